/* SPDX-License-Identifier: MIT */
/*
 * http - requests from and to the web.
 *
 * Each behaviour is there when its library was there at the build: CMakeLists.txt.
 */
#include <weir/plugin.h>

extern const struct weir_behaviour http_client, http_server;

#if defined(HTTP_HAS_CLIENT) && defined(HTTP_HAS_SERVER)
WEIR_PLUGIN_OF("http", "1.0.0", &http_server, &http_client);
#elif defined(HTTP_HAS_SERVER)
WEIR_PLUGIN_OF("http", "1.0.0", &http_server);
#else
WEIR_PLUGIN_OF("http", "1.0.0", &http_client);
#endif
