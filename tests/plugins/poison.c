/* SPDX-License-Identifier: MIT */
/*
 * Workers for `isolation: process`. `eat` passes a text on, and does what its words say: it
 * crashes, leaves, never returns. `tour` makes calls of every kind and prints what is not as it
 * should be.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/plugin.h>

#include "../../plugins/files/files.h"

#define BELL 3        /* DIALOGUE_BELL */
#define FCHMODAT2 452 /* Linux 6.6 */
#define CLONE3 435

struct settings {
    const char *mark; /* printed in `open` */
    struct weir_list words;
    uint64_t wait;
};

static const struct weir_option options[] = {
    WEIR_OPTION_STRING(struct settings, mark, .help = "printed when a worker opens", .live = true),
    WEIR_OPTION_LIST(struct settings, words, .help = "printed behind it"),
    WEIR_OPTION_DURATION(struct settings, wait, .fallback = "0ms", .max = 60000,
                         .help = "how long each message takes"),
    { 0 },
};

static const struct weir_output outputs[] = {
    { .name = "out", .help = "the same text" },
    { 0 },
};

/* One call for a line: those of two workers may come between each other. */
static void say(struct weir_self *self, const char *text)
{
    char line[160];
    int size = snprintf(line, sizeof line, "%.150s\n", text);

    weir_print(self, line, (size_t)size);
}

/* --- eat -------------------------------------------------------------------------------------- */

struct eat {
    const struct settings *settings;
    uint64_t count;
};

static int eat_open(struct weir_self *self, const void *given, void *state)
{
    const struct settings *settings = given;
    struct eat *eat = state;

    eat->settings = settings;
    if (settings->mark)
        say(self, settings->mark);
    for (size_t i = 0; i < settings->words.count; i++)
        say(self, settings->words.items[i]);
    return 0;
}

static int deep(int depth)
{
    char frame[65536];

    memset(frame, depth, sizeof frame);
    return depth < 0 ? 0 : deep(depth + 1) + frame[(unsigned)depth % sizeof frame];
}

/* Wakes the host, which waits for this process, more often than it can hear. */
static void ring(void)
{
    static const char many[4096];

    (void)send(BELL, many, sizeof many, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static bool says(const struct weir_message *message, const char *word)
{
    return memmem(message->data, message->size, word, strlen(word));
}

static void crash_later(struct weir_self *self, void *state, void *context)
{
    atomic_store((_Atomic int *)context, self && state); /* NOLINT */
}

static void suffer(const struct weir_message *message)
{
    if (says(message, "SEGV"))
        atomic_store((_Atomic int *)(message->size * 16), 1); /* NOLINT */
    if (says(message, "ABORT"))
        abort();
    if (says(message, "EXIT"))
        exit(3); /* NOLINT */
    if (says(message, "STACK"))
        _exit(deep(0));
    while (says(message, "HUNGER"))
        atomic_store((_Atomic char *)malloc((size_t)1 << 20), 1); /* as one that checks nothing */
    if (says(message, "SHARED")) {
        size_t size = (size_t)256 << 20; /* no limit of allocations bounds it */
        char *more = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        memset(more, 1, size);
        (void)poll(NULL, 0, -1);
    }
    if (says(message, "OPENS"))
        while (dup(0) >= 0)
            continue;
    while (says(message, "LOOP"))
        (void)poll(NULL, 0, 1000);
    if (says(message, "RING")) { /* root: so many that the host never finds none */
        (void)setsockopt(BELL, SOL_SOCKET, SO_SNDBUFFORCE, &(int){ 8 << 20 }, sizeof(int));
        for (;;)
            ring();
    }
}

/* Prints the last word of a message. */
static void say_word(struct weir_self *self, const struct weir_message *message)
{
    const char *bytes = message->data;
    size_t end = message->size, begin;
    char word[64];

    while (end > 0 && bytes[end - 1] <= ' ')
        end--;
    for (begin = end; begin > 0 && bytes[begin - 1] > ' ' && end - begin < sizeof word - 6;)
        begin--;
    (void)snprintf(word, sizeof word, "ate %.*s", (int)(end - begin), bytes + begin);
    say(self, word);
}

static int eat_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct eat *eat = state;
    struct weir_message *copy = weir_message_new(self, message->tag, message->size);

    if (!copy)
        return WEIR_POSTPONE;
    if (message->size)
        memcpy(copy->data, message->data, message->size);
    suffer(message);
    if (says(message, "TIMER"))
        (void)weir_after(self, 1, crash_later, NULL, NULL);
    (void)poll(NULL, 0, (int)eat->settings->wait);
    if (weir_emit(self, 0, copy) != WEIR_OK) {
        weir_message_free(self, copy);
        return WEIR_REJECT;
    }
    say_word(self, message);
    if (message->attempt != 1)
        say(self, "another attempt");
    weir_progress(self, "eaten", ++eat->count, 0);
    if (says(message, "REJECT"))
        weir_reason(self, "as it says");
    return says(message, "REJECT") ? WEIR_REJECT : WEIR_DONE;
}

static void eat_reconfigure(struct weir_self *self, void *state, const void *given)
{
    struct eat *eat = state;

    eat->settings = given;
    say(self, eat->settings->mark ? eat->settings->mark : "no mark");
}

static void eat_close(struct weir_self *self, void *state, int reason)
{
    (void)state;
    (void)reason;
    say(self, "closed");
}

static void eat_inspect(struct weir_self *self, void *state, struct weir_inspection *out)
{
    const struct eat *eat = state;

    (void)self;
    weir_inspect_add(out, "eaten", "%llu", (unsigned long long)eat->count);
}

/* --- tour ------------------------------------------------------------------------------------- */

struct tour {
    const struct weir_message *kept;
    uint64_t timer;
    int ticks;
    int handled;
    bool replied;
};

static void must(struct weir_self *self, bool holds, const char *what)
{
    char text[128];

    (void)snprintf(text, sizeof text, "wrong: %s", what);
    if (!holds)
        say(self, text);
}

static void on_tick(struct weir_self *self, void *state, void *context)
{
    struct tour *tour = state;

    must(self, context == tour, "context of a timer");
    if (++tour->ticks < 3 || !tour->replied)
        return;
    must(self, weir_cancel_timer(self, tour->timer) == WEIR_OK, "cancel of a timer");
    must(self, weir_settle(self, tour->kept, WEIR_DONE) == WEIR_OK, "settle");
    say(self, "tour ended");
}

static void on_reply(struct weir_self *self, void *state, void *context,
                     const struct weir_reply *reply)
{
    struct tour *tour = state;

    (void)context;
    tour->replied = true;
    must(self,
         reply->status == WEIR_OK && reply->message && reply->message->size == 4 &&
             memcmp(reply->message->data, "pong", 4) == 0,
         "content of a reply");
}

static int ask(struct weir_self *self)
{
    struct weir_message *question = weir_message_new(self, weir_tag(self, "test.ask/1"), 4);
    weir_pid pid = 0;

    if (!question || weir_lookup(self, "answers", &pid) != WEIR_OK)
        return WEIR_EUNKNOWN;
    memcpy(question->data, "ping", 4);
    return weir_request(self, pid, question, 5000, on_reply, NULL, NULL);
}

static void look_around(struct weir_self *self)
{
    struct weir_pool_stats stats = { .size = sizeof stats };
    weir_pid pid = 0;
    struct weir_blob *blob = weir_blob_new(self, 100000);
    struct weir_message *large = weir_message_with_blob(self, weir_tag(self, "test.blob/1"), blob);

    must(self, weir_tag(self, "a/1") == weir_tag(self, "a/1"), "tags are equal");
    must(self, strcmp(weir_path(self), "tours#0") == 0 && weir_index(self) == 0, "path");
    must(self, weir_lookup(self, "tours", &pid) == WEIR_OK && pid == weir_pool(self), "lookup");
    must(self, weir_lookup(self, "nobody", &pid) == WEIR_EUNKNOWN, "lookup of nobody");
    must(self, self->host->pool_stats(self, weir_pool(self), &stats) == WEIR_OK && stats.live == 1,
         "figures");
    must(self, weir_emit(self, 7, large) == WEIR_EINVALID, "an output that is not there");
    must(self, weir_emit(self, 0, large) == WEIR_OK, "a blob");
    weir_blob_release(blob);
    must(self, weir_port(self) == NULL, "port");
    must(self, weir_subscribe(self, "event") == WEIR_EUNSUPPORTED, "subscribe");
    must(self, weir_watch(self, 0, WEIR_READABLE, NULL, NULL, NULL) == WEIR_EUNSUPPORTED, "watch");
    must(self, weir_spawn(self, NULL, NULL) == WEIR_EUNSUPPORTED, "spawn");
}

static int tour_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct tour *tour = state;

    switch (tour->handled++) {
    case 0:
        look_around(self);
        must(self, weir_stash(self, message) == WEIR_OK, "stash");
        return WEIR_DONE;
    case 1:
        must(self, weir_time_left(self, message) == UINT64_MAX, "time left");
        must(self, weir_unstash(self, UINT32_MAX) == 1, "unstash");
        weir_retry_after(self, 1);
        return WEIR_RETRY;
    case 2: /* the stashed one */
        must(self, message->attempt == 1, "attempt after the stash");
        must(self, ask(self) == WEIR_OK, "request");
        return WEIR_DONE;
    default:
        must(self, message->attempt == 2, "attempt after a retry");
        tour->kept = message;
        must(self, weir_every(self, 20, on_tick, tour, &tour->timer) == WEIR_OK, "timer");
        return WEIR_KEEP;
    }
}

static int answer_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct weir_message *reply = weir_message_new(self, message->tag, 4);

    (void)state;
    if (!reply || message->size != 4 || memcmp(message->data, "ping", 4) != 0)
        return WEIR_REJECT;
    memcpy(reply->data, "pong", 4);
    return weir_reply(self, message, reply) == WEIR_OK ? WEIR_DONE : WEIR_REJECT;
}

/* --- raise ------------------------------------------------------------------------------------ */

static int raise_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    weir_pid pid = 0;

    (void)state;
    if (weir_lookup(self, "eaters", &pid) != WEIR_OK ||
        weir_forward_lane(self, pid, WEIR_HIGH, message) != WEIR_OK)
        return WEIR_REJECT;
    return WEIR_DONE;
}

/* --- reach ------------------------------------------------------------------------------------ */

static bool opens(const char *path, int flags)
{
    int descriptor = open(path, flags | O_CLOEXEC, 0600);

    if (descriptor >= 0)
        (void)close(descriptor);
    return descriptor >= 0;
}

static bool owns_a_pipe(void)
{
    int ends[2];
    bool owns = pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, getppid()) == 0;

    (void)close(ends[0]);
    (void)close(ends[1]);
    return owns;
}

static bool leaves_its_group(void)
{
    int status = 1;
    pid_t child = fork();

    if (child == 0)
        _exit(setsid() < 0);
    return waitpid(child, &status, 0) == child && status == 0;
}

static bool pairs(int type)
{
    int ends[2];

    if (socketpair(AF_UNIX, type, 0, ends) != 0)
        return false;
    (void)close(ends[0]);
    (void)close(ends[1]);
    return true;
}

static bool shares_memory(void)
{
    int area = shmget(IPC_PRIVATE, 1, 0600);

    return area >= 0 && shmctl(area, IPC_RMID, NULL) == 0;
}

static void *do_nothing(void *context)
{
    return context;
}

/* What each process may. */
static bool lives(void)
{
    struct rlimit limit;
    pthread_t thread;
    int status = 1;
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    return waitpid(child, &status, 0) == child && status == 0 && kill(getpid(), 0) == 0 &&
           getrlimit(RLIMIT_NOFILE, &limit) == 0 && pairs(SOCK_STREAM | SOCK_CLOEXEC) &&
           pthread_create(&thread, NULL, do_nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

/* No kernel makes a process of these arguments: EINVAL is not the filter's. */
static bool clones(long call, unsigned long flags, int refused)
{
    return syscall(call, flags, 0, 0, 0, 0) < 0 && errno != refused;
}

static bool reaches_others(const char *what)
{
    static const struct sched_param usual = { 0 };

    if (strcmp(what, "pair") == 0)
        return pairs(SOCK_DGRAM);
    if (strcmp(what, "shm") == 0)
        return shares_memory();
    if (strcmp(what, "schedule") == 0)
        return sched_setscheduler(getppid(), SCHED_OTHER, &usual) == 0;
    if (strcmp(what, "sibling") == 0)
        return clones(SYS_clone, CLONE_PARENT | CLONE_SIGHAND, EPERM);
    if (strcmp(what, "clone3") == 0)
        return clones(CLONE3, 0, ENOSYS);
    return lives();
}

static bool reaches(const char *what, const char *path)
{
    struct rlimit limit;

    if (strcmp(what, "read") == 0)
        return opens(path, O_RDONLY);
    if (strcmp(what, "write") == 0)
        return opens(path, O_WRONLY | O_CREAT);
    if (strcmp(what, "remove") == 0)
        return unlink(path) == 0;
    if (strcmp(what, "chmod") == 0)
        return chmod(path, 0600) == 0;
    if (strcmp(what, "chmod2") == 0)
        return syscall(FCHMODAT2, AT_FDCWD, path, 0600, 0) == 0;
    if (strcmp(what, "truncate") == 0)
        return truncate(path, 0) == 0;
    if (strcmp(what, "socket") == 0)
        return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
    if (strcmp(what, "host") == 0)
        return kill(getppid(), 0) == 0;
    if (strcmp(what, "owner") == 0)
        return owns_a_pipe();
    if (strcmp(what, "setsid") == 0)
        return leaves_its_group();
    if (strcmp(what, "limit") == 0)
        return getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0;
    return reaches_others(what);
}

/* Prints the line when the process could do what it says. */
static int reach_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    const struct files_line *line = files_line_get(message);
    char what[160], *path;

    (void)state;
    if (!line || line->line_size >= sizeof what)
        return WEIR_REJECT;
    memcpy(what, files_line_text(line), line->line_size + 1u);
    path = strchr(what, ' ');
    if (!path)
        return WEIR_REJECT;
    *path++ = '\0';
    if (reaches(what, path))
        say(self, files_line_text(line));
    return WEIR_DONE;
}

/* --- hostile ---------------------------------------------------------------------------------- */

static atomic_bool has_begun;

/* Writes numbers at random into the memory that the process shares with its host. */
static void *scribble(void *context)
{
    _Atomic uint64_t *words = ((void **)context)[0];
    uint64_t count = (uint64_t)(uintptr_t)((void **)context)[1] / sizeof *words;
    uint64_t draw = (uint64_t)getpid();

    while (!atomic_load(&has_begun)) /* until then the host waits for `open` */
        (void)poll(NULL, 0, 1);
    for (;;) {
        for (int i = 0; i < 64; i++) {
            draw = draw * 6364136223846793005u + 1442695040888963407u;
            /* Half of them into the first words: positions, and who sleeps. */
            atomic_store(&words[(draw >> 33) % (draw & 1u << 20 ? 64 : count)],
                         draw >> (draw >> 58));
            ring();
        }
        (void)poll(NULL, 0, 1);
    }
    return NULL;
}

static int hostile_open(struct weir_self *self, const void *settings, void *state)
{
    static void *area[2];
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    pthread_t thread;

    (void)self;
    (void)settings;
    (void)state;
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "memfd:weir")) {
            char *end;
            uintptr_t from = strtoull(line, &end, 16), to = strtoull(end + 1, NULL, 16);

            area[0] = (void *)from;        /* NOLINT */
            area[1] = (void *)(to - from); /* NOLINT */
        }
    if (maps)
        (void)fclose(maps);
    return area[0] && pthread_create(&thread, NULL, scribble, area) == 0 ? 0 : WEIR_EUNKNOWN;
}

static int hostile_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    (void)self;
    (void)state;
    (void)message;
    atomic_store(&has_begun, true);
    return WEIR_REJECT;
}

/* --- late ------------------------------------------------------------------------------------- */

struct late {
    const struct weir_message *kept;
};

static int late_handle(struct weir_self *self, void *state, const struct weir_message *message)
{
    struct late *late = state;

    late->kept = message;
    say(self, "kept");
    return WEIR_KEEP;
}

static void late_close(struct weir_self *self, void *state, int reason)
{
    const struct late *late = state;
    struct weir_message *reply = weir_message_new(self, late->kept->tag, 4);

    (void)reason;
    must(self, weir_time_left(self, late->kept) == 0, "time left of a message that has ended");
    must(self, weir_reply(self, late->kept, reply) != WEIR_OK, "reply to a message that has ended");
    weir_message_free(self, reply);
    say(self, "closed");
}

static void ignore_outcome(struct weir_self *self, void *state, const struct weir_outcome *outcome)
{
    (void)self;
    (void)state;
    (void)outcome;
}

static const struct weir_behaviour behaviours[] = {
    { .name = "eat",
      .summary = "passes texts on, and does what they say",
      .options = options,
      .outputs = outputs,
      .settings_size = sizeof(struct settings),
      .state_size = sizeof(struct eat),
      .open = eat_open,
      .handle = eat_handle,
      .reconfigure = eat_reconfigure,
      .close = eat_close,
      .inspect = eat_inspect },
    { .name = "tour",
      .summary = "makes calls of every kind",
      .outputs = outputs,
      .state_size = sizeof(struct tour),
      .handle = tour_handle },
    { .name = "answer", .summary = "answers a question", .handle = answer_handle },
    { .name = "raise",
      .summary = "passes a message on to the manager of `eaters`",
      .handle = raise_handle },
    { .name = "reach", .summary = "tries what its lines say", .handle = reach_handle },
    { .name = "hostile",
      .summary = "writes nonsense into the memory that it shares with its host",
      .open = hostile_open,
      .handle = hostile_handle },
    { .name = "late",
      .summary = "keeps a message, and speaks of it in `close`",
      .state_size = sizeof(struct late),
      .handle = late_handle,
      .close = late_close },
    { .name = "origin",
      .summary = "cannot be isolated",
      .handle = answer_handle,
      .settled = ignore_outcome },
    { 0 },
};

WEIR_PLUGIN("poison", "1.0.0", behaviours);
