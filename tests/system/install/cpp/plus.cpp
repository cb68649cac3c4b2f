/* SPDX-License-Identifier: MIT */
// plus - adds numbers up and prints the sum at the end: state with a constructor, options.
#include <cstring>
#include <new>
#include <string>

#include <weir/plugin.h>

namespace
{
struct settings {
    uint64_t start;
};

struct adder {
    uint64_t sum;
};

int open_adder(weir_self *, const void *memory, void *state)
{
    new (state) adder{static_cast<const settings *>(memory)->start};
    return 0;
}

int handle(weir_self *, void *state, const weir_message *message)
{
    uint64_t number;

    if (message->size != sizeof number)
        return WEIR_REJECT;
    std::memcpy(&number, message->data, sizeof number);
    static_cast<adder *>(state)->sum += number;
    return WEIR_DONE;
}

void close_adder(weir_self *self, void *state, int)
{
    const std::string line = std::to_string(static_cast<adder *>(state)->sum) + "\n";

    weir_print(self, line.data(), line.size());
    static_cast<adder *>(state)->~adder();
}

const weir_option options[] = {
    WEIR_OPTION_U64(settings, start, .help = "what to begin with", .fallback = "0"),
    {},
};

const weir_behaviour behaviours[] = {
    {
        .name = "add",
        .summary = "adds numbers up",
        .options = options,
        .settings_size = sizeof(settings),
        .state_size = sizeof(adder),
        .open = open_adder,
        .handle = handle,
        .close = close_adder,
    },
    {},
};
} // namespace

WEIR_PLUGIN("plus", "1.0.0", behaviours);
