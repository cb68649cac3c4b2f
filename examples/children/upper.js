/* SPDX-License-Identifier: MIT */
/* Upper case, in JavaScript for Node, with `frames: json`: a frame is a line. */
'use strict';
const readline = require('node:readline');

const say = (...frames) =>
    process.stdout.write(frames.map(frame => JSON.stringify(frame) + '\n').join(''));

const text = ({ data, base64 }) => data ?? Buffer.from(base64, 'base64').toString();

let count = 0;

const answers = {
    message: ({ id, ...rest }) => {
        count++;
        say({ frame: 'out', id, data: text(rest).toUpperCase() }, { frame: 'done' });
    },
    request: ({ id, ...rest }) =>
        say({ frame: 'reply', id, data: text(rest).toUpperCase() }, { frame: 'done' }),
    tick: () => say({ frame: 'inspect', data: `messages ${count}` }),
    close: () => say({ frame: 'out', id: '0', data: `${count} messages` }),
};

say({ frame: 'ready', revision: 2 });
readline.createInterface({ input: process.stdin }).on('line', line => {
    const frame = JSON.parse(line);
    answers[frame.frame]?.(frame); // `cancel` needs none: the verdict ends the message
});
