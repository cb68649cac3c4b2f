/* SPDX-License-Identifier: MIT */
// Every inline function of the SDK is C++, too, from C++11 on.
#include <weir/plugin.h>

namespace
{
int handle(weir_self *self, void *, const weir_message *message)
{
    weir_log(self, WEIR_LOG_INFO, "seen", weir_uint("size", message->size), weir_real("x", 0.5));
    weir_reason(self, "%s %s", weir_status_name(WEIR_EFULL), weir_status_text(0));
    return weir_key(message->data, message->size) ? WEIR_REJECT : WEIR_DONE;
}
} // namespace

static const weir_behaviour behaviours[] = {
    {"see", "sees", nullptr, nullptr, 0, 0, 0, 0, nullptr, nullptr, handle, nullptr, nullptr,
     nullptr},
    {},
};

WEIR_PLUGIN("header", "1.0.0", behaviours);
