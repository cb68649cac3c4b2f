/* SPDX-License-Identifier: MIT */
/* plugin FILE.so BEHAVIOUR: opens a plugin, and asks a worker of one of its behaviours. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <weir/runtime.h>

/* NULL: there is none of this name. A plugin has a table, or a list (WEIR_PLUGIN_OF). A row of the
 * table may be shorter or longer than it is in this program: the plugin says how long. */
static const struct weir_behaviour *find(const struct weir_plugin *plugin, const char *name)
{
    const char *table = (const char *)plugin->behaviours;

    for (uint32_t i = 0;; i++) {
        const struct weir_behaviour *behaviour =
            plugin->behaviour_list
                ? plugin->behaviour_list[i]
                : (const struct weir_behaviour *)(table + (size_t)i * plugin->behaviour_size);

        if (!behaviour || !behaviour->name)
            return NULL;
        if (strcmp(behaviour->name, name) == 0)
            return behaviour;
    }
}

static int ask(struct weir_runtime *runtime, weir_pid pool, uint64_t number)
{
    struct weir_message *message = weir_runtime_message_new(runtime, NULL, sizeof number);
    struct weir_answer answer = WEIR_ANSWER;
    uint64_t reference;
    int status = WEIR_ENOMEM;

    if (message) {
        *(uint64_t *)message->data = number;
        /* It waits for room, and so for the first worker to open. */
        status = weir_runtime_request_wait(runtime, pool, message, 1000, &reference);
        if (status != 0)
            weir_runtime_message_free(runtime, message);
    }
    if (status == 0)
        status = weir_runtime_await(runtime, reference, &answer);
    if (status == 0)
        printf("%" PRIu64 "\n", *(const uint64_t *)answer.message->data);
    weir_runtime_message_free(runtime, answer.message);
    return status;
}

int main(int argc, char **argv)
{
    struct weir_runtime_options options = WEIR_RUNTIME_OPTIONS;
    struct weir_pool_options pool = WEIR_POOL_OPTIONS;
    void *file = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    const struct weir_plugin *plugin = file ? dlsym(file, WEIR_PLUGIN_SYMBOL) : NULL;
    struct weir_runtime *runtime;
    weir_pid workers;
    int status;

    if (!plugin || plugin->abi_minor > WEIR_ABI_MINOR)
        return 66; /* no plugin, or one that is newer than this program */
    pool.path = argv[2];
    pool.behaviour = find(plugin, argv[2]);
    pool.behaviour_size = plugin->behaviour_size;
    if (!pool.behaviour || weir_runtime_create(&options, &runtime) != 0)
        return 70;
    status = weir_runtime_add_pool(runtime, &pool, &workers);
    if (status == 0)
        status = ask(runtime, workers, 21);
    if (status != 0)
        printf("no answer: %s\n", weir_status_text(status));
    weir_runtime_destroy(runtime);
    (void)dlclose(file); /* behind the runtime: its threads run the plugin's code */
    return status != 0;
}
