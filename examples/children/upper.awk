# SPDX-License-Identifier: MIT
# Upper case, in mawk, with `frames: json`: a frame is a line.

# The text of a member, as it stands in the line; "" without it.
function member(name) {
    if (!match($0, "\"" name "\":\"([^\"\\\\]|\\\\.)*\""))
        return ""
    return substr($0, RSTART + length(name) + 4, RLENGTH - length(name) - 5)
}

# Upper case; the letters of an escape, such as \n and \u00e4, stay.
function upper(text,    done) {
    while (match(text, /\\(u....|.)/)) {
        done = done toupper(substr(text, 1, RSTART - 1)) substr(text, RSTART, RLENGTH)
        text = substr(text, RSTART + RLENGTH)
    }
    return done toupper(text)
}

BEGIN { say("{\"frame\":\"ready\",\"revision\":2}") }

function say(frame) {
    print frame
    fflush()
}

function answer(frame) {
    if (index($0, "\"base64\":"))
        return say("{\"frame\":\"reject\",\"data\":\"no text\"}")
    say("{\"frame\":\"" frame "\",\"id\":\"" member("id") "\",\"data\":\"" upper(member("data")) "\"}")
    say("{\"frame\":\"done\"}")
}

{ kind = member("frame") }
kind == "message" { answer("out"); count++ }
kind == "request" { answer("reply") }
kind == "tick"    { say("{\"frame\":\"inspect\",\"data\":\"messages " count + 0 "\"}") }
kind == "close"   { say("{\"frame\":\"out\",\"id\":\"0\",\"data\":\"" count + 0 " messages\"}") }
