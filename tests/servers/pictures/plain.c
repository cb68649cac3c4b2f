/* SPDX-License-Identifier: MIT */
/*
 * What the libraries do with each file, without Weir.
 *
 *     plain make FOLDER        writes one picture of each kind
 *     plain sum <PATHS         one line for each path: its sum, or how its process ended
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "picture.h"

static void look_at(const char *path)
{
    int status = 0;
    pid_t child;

    (void)fflush(stdout);
    child = fork();
    if (child == 0) {
        uint64_t sum = picture_sum(path);

        (void)printf("%s %llu\n", path, (unsigned long long)sum);
        (void)fflush(stdout);
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        (void)printf("%s killed by SIG%s\n", path, sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0)
        (void)printf("%s exit code %d\n", path, WEXITSTATUS(status));
}

int main(int count, char **words)
{
    char path[4096];

    if (count == 3 && strcmp(words[1], "make") == 0)
        return chdir(words[2]) != 0 || picture_make("0.jpg", 0, 160, 120) != 0 ||
               picture_make("0.png", 1, 160, 120) != 0;
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = '\0';
        look_at(path);
    }
    return 0;
}
