/* SPDX-License-Identifier: MIT */
#include "http_site.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../host/suite.h"

extern const struct weir_plugin weir_plugin_v1;

struct scratch site_scratch;
char site_path[128];

struct weir_kit *site_serve(const char *more)
{
    struct weir_kit *kit = weir_kit_create(&weir_plugin_v1, "server");

    CU_ASSERT_PTR_NOT_NULL_FATAL(kit);
    scratch_init(&site_scratch);
    (void)snprintf(site_path, sizeof site_path, "%s", scratch_write(&site_scratch, "web", ""));
    CU_ASSERT_EQUAL(unlink(site_path), 0);
    CU_ASSERT_EQUAL_FATAL(weir_kit_open_format(kit, "listen: \"unix:%s\"\n%s", site_path, more), 0);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
    return kit;
}

void site_finish(struct weir_kit *kit)
{
    CU_ASSERT_EQUAL(weir_kit_destroy(kit), 0);
    scratch_finish(&site_scratch);
}

int site_client(const char *request)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)snprintf(address.sun_path, sizeof address.sun_path, "%.100s", site_path);
    CU_ASSERT_EQUAL_FATAL(connect(client, (struct sockaddr *)&address, sizeof address), 0);
    CU_ASSERT_EQUAL(send(client, request, strlen(request), 0), (ssize_t)strlen(request));
    return client;
}

void site_run(struct weir_kit *kit)
{
    (void)weir_kit_poll(kit);
    CU_ASSERT_EQUAL(weir_kit_produce(kit, 1), WEIR_WAIT);
}

const struct weir_kit_sent *site_sent(struct weir_kit *kit, size_t count)
{
    while (weir_kit_sent_count(kit) < count)
        site_run(kit);
    return weir_kit_sent(kit, count - 1);
}

const char *site_answer(struct weir_kit *kit, int client)
{
    static char text[4096];
    ssize_t got;

    while ((got = recv(client, text, sizeof text - 1, MSG_DONTWAIT)) < 0)
        site_run(kit);
    text[got] = '\0';
    (void)close(client);
    return text;
}

bool site_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

void site_answer_and_keep(struct weir_kit *kit, int client, size_t number)
{
    char text[512];

    CU_ASSERT_EQUAL(weir_kit_answer(kit, site_sent(kit, number)->reference, 0, "any/1", "yes", 3),
                    0);
    while (recv(client, text, sizeof text, MSG_DONTWAIT) < 0)
        site_run(kit);
}

const char *site_hear(struct weir_kit *kit, int client, const char *end)
{
    static char text[8192];
    size_t size = 0;

    text[0] = '\0';
    while (!strstr(text, end)) {
        ssize_t got = recv(client, text + size, sizeof text - 1 - size, MSG_DONTWAIT);

        if (got == 0)
            break;
        size += got > 0 ? (size_t)got : 0;
        text[size] = '\0';
        site_run(kit);
    }
    return text;
}
