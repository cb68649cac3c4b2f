# SPDX-License-Identifier: MIT
# Upper case, in Perl.
use strict;
use warnings;

binmode STDIN;
binmode STDOUT;
my ($waiting, $count) = ('', 0);

# Frames gather until the message is done, and are written at once.
sub frame {
    my ($words, $data) = @_;
    my ($word, @others) = split / /, $words;
    $waiting .= join(' ', $word, length $data, @others) . "\n$data";
}

sub flush {
    print STDOUT $waiting;
    STDOUT->flush;
    $waiting = '';
}

frame('ready 2', '');
flush();
while (my $line = <STDIN>) {
    chomp $line;
    my ($kind, $size, $id, $attempt, $key, $tag) = split / /, $line, 6;
    my $data = '';
    if ($kind eq 'message' || $kind eq 'request') {
        read(STDIN, $data, $size) == $size or last;
        frame($kind eq 'request' ? "reply $id" : "out 0 $id", uc $data);
        frame('done', '');
        $count++ if $kind eq 'message';
    } elsif ($kind eq 'tick') {
        frame('inspect', "messages $count");
    } elsif ($kind eq 'close') {
        frame('out 0 0', "$count messages");
    }
    flush();
}
