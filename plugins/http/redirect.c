/* SPDX-License-Identifier: MIT */
#include "redirect.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

#include "target.h"

/* --- servers ---------------------------------------------------------------------------------- */

static char *part(CURLU *url, CURLUPart which)
{
    char *text = NULL;

    return curl_url_get(url, which, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

static bool is_same_part(CURLU *url, CURLU *other, CURLUPart which)
{
    char *left = part(url, which), *right = part(other, which);
    bool is_same = left && right && strcasecmp(left, right) == 0;

    curl_free(left);
    curl_free(right);
    return is_same;
}

static bool is_same_server(CURLU *url, CURLU *other)
{
    return is_same_part(url, other, CURLUPART_SCHEME) && is_same_part(url, other, CURLUPART_HOST) &&
           is_same_part(url, other, CURLUPART_PORT);
}

static bool has_part(CURLU *url, CURLUPart which)
{
    char *text = part(url, which);
    bool has = text != NULL;

    curl_free(text);
    return has;
}

/* --- credentials ------------------------------------------------------------------------------ */

static bool is_credential(const char *name)
{
    return strcasecmp(name, "authorization") == 0 || strcasecmp(name, "cookie") == 0 ||
           strcasecmp(name, "proxy-authorization") == 0;
}

static bool has_credentials(const struct client_settings *settings, CURLU *first)
{
    for (size_t i = 0; i < settings->headers.count; i++)
        if (is_credential(settings->headers.items[i].key))
            return true;
    return settings->secret_headers.count > 0 || has_part(first, CURLUPART_USER) ||
           has_part(first, CURLUPART_PASSWORD);
}

/* The user of the first URL, and none of the server's making. */
static bool copy_user(CURLU *to, CURLU *from)
{
    char *user = part(from, CURLUPART_USER), *password = part(from, CURLUPART_PASSWORD);
    bool is_set = curl_url_set(to, CURLUPART_USER, user, 0) == CURLUE_OK &&
                  curl_url_set(to, CURLUPART_PASSWORD, password, 0) == CURLUE_OK;

    curl_free(user);
    curl_free(password);
    return is_set;
}

/* --- the next request ------------------------------------------------------------------------- */

static bool is_redirect(long status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

static bool becomes_get(const char *method, long status)
{
    if (status == 303)
        return strcmp(method, "HEAD") != 0;
    return (status == 301 || status == 302) && strcmp(method, "POST") == 0;
}

/* RFC 9110 15.4: headers of a content that is not sent. */
static bool is_of_content(const char *line)
{
    return strncasecmp(line, "content-", 8) == 0 || strncasecmp(line, "digest:", 7) == 0 ||
           strncasecmp(line, "last-modified:", 14) == 0;
}

/* A line without a value keeps libcurl from adding that header. */
static bool goes_along(const struct fetch *fetch, const char *line)
{
    if (line[strlen(line) - 1] == ':')
        return true;
    if (is_of_content(line))
        return fetch->has_body;
    return !fetch->is_elsewhere || strncasecmp(line, "accept", 6) == 0;
}

static bool choose_headers(struct fetch *fetch)
{
    struct curl_slist *chosen = NULL;

    for (const struct curl_slist *at = fetch->client->headers; at; at = at->next) {
        struct curl_slist *longer;

        if (!goes_along(fetch, at->data))
            continue;
        longer = curl_slist_append(chosen, at->data);
        if (!longer) {
            curl_slist_free_all(chosen);
            return false;
        }
        chosen = longer;
    }
    curl_slist_free_all(fetch->headers);
    fetch->headers = chosen;
    return true;
}

static CURLcode refuse(struct fetch *fetch, const char *cause)
{
    fetch_refuse(fetch, cause);
    return CURLE_TOO_MANY_REDIRECTS;
}

static bool is_kept_from(const struct fetch *fetch, CURLU *first, CURLU *next)
{
    return fetch->is_elsewhere &&
           (has_credentials(fetch->client->settings, first) || has_part(next, CURLUPART_USER) ||
            has_part(next, CURLUPART_PASSWORD));
}

/* Takes `url` of libcurl. */
static CURLcode set_url(struct fetch *fetch, char *url)
{
    if (target_refuse(url)) {
        curl_free(url);
        return refuse(fetch, "redirect to a URL that is too long, or has a segment . or ..");
    }
    curl_free(fetch->next_url);
    fetch->next_url = url;
    return CURLE_OK;
}

static CURLcode choose_url(struct fetch *fetch, CURLU *first, CURLU *next, const char *location)
{
    char *url;

    if (curl_url_set(first, CURLUPART_URL, fetch->url, 0) != CURLUE_OK ||
        curl_url_set(next, CURLUPART_URL, location, 0) != CURLUE_OK)
        return refuse(fetch, "redirect to what is no URL of http or https");
    fetch->is_elsewhere = !is_same_server(next, first);
    if (is_kept_from(fetch, first, next))
        return refuse(fetch, "redirect to another server, with credentials");
    if ((!fetch->is_elsewhere && !copy_user(next, first)) ||
        curl_url_get(next, CURLUPART_URL, &url, 0) != CURLUE_OK)
        return CURLE_OUT_OF_MEMORY;
    return set_url(fetch, url);
}

static CURLcode follow(struct fetch *fetch, const char *location)
{
    CURLU *first = curl_url(), *next = curl_url();
    CURLcode code = first && next ? choose_url(fetch, first, next, location) : CURLE_OUT_OF_MEMORY;

    curl_url_cleanup(first);
    curl_url_cleanup(next);
    return code;
}

static CURLcode repeat(struct fetch *fetch, long status)
{
    fetch->redirects++;
    if (becomes_get(fetch->method, status)) {
        fetch->method = "GET";
        fetch->has_body = false;
    }
    return choose_headers(fetch) ? fetch_repeat(fetch) : CURLE_OUT_OF_MEMORY;
}

bool redirect_take(struct fetch *fetch, CURLcode *out_code)
{
    uint32_t max = fetch->client->settings->redirects;
    const char *location = NULL;
    long status = 0;

    (void)curl_easy_getinfo(fetch->easy, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(fetch->easy, CURLINFO_REDIRECT_URL, &location);
    *out_code = CURLE_OK;
    if (max == 0 || !location || !is_redirect(status))
        return false;
    *out_code = fetch->redirects < max ? follow(fetch, location) : CURLE_TOO_MANY_REDIRECTS;
    if (*out_code == CURLE_OK)
        *out_code = repeat(fetch, status);
    if (*out_code == CURLE_OUT_OF_MEMORY)
        fetch_lack(fetch, ENOMEM);
    return *out_code == CURLE_OK;
}
