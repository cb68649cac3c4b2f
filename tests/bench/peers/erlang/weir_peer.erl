%% Erlang: a process for each actor, with an unbounded mailbox; a pool is a process that passes
%% messages on by turns.
%%
%%     erl -noshell +S THREADS:THREADS ... -run weir_peer main ROW THREADS SENDERS RECEIVERS EACH
%%         LIMIT STEPS WORK_NS
%%
%% Work is arithmetic of small integers, as many rounds as take WORK_NS here.
-module(weir_peer).
-export([main/1]).

-define(MASK, 16#FFFFFFF).
-define(UNKNOWN, 3).

-record(row, {senders, receivers, each, work}).

main([Name | Arguments]) ->
    [_, Senders, Receivers, Each, _, Steps, WorkNs] = [list_to_integer(A) || A <- Arguments],
    Work = case Steps of 0 -> 0; _ -> rounds(WorkNs) end,
    Row = #row{senders = Senders, receivers = Receivers, each = Each, work = Work},
    Start = now_ns(),
    case run(Name, Row) of
        unknown ->
            erlang:halt(?UNKNOWN);
        {Messages, Ok, More} ->
            Ns = now_ns() - Start,
            io:format("RESULT messages=~b ns=~b ok=~b peak_kb=~b~s~n",
                      [Messages, Ns, case Ok of true -> 1; _ -> 0 end, status(<<"VmHWM">>), More]),
            erlang:halt(0, [{flush, true}])
    end.

now_ns() -> erlang:monotonic_time(nanosecond).

status(Key) ->
    {ok, File} = file:open("/proc/self/status", [read, raw, binary]),
    {ok, Text} = file:read(File, 65536),
    file:close(File),
    [Line] = [L || L <- binary:split(Text, <<"\n">>, [global]),
                   binary:longest_common_prefix([L, Key]) =:= byte_size(Key)],
    [_, Value | _] = [W || W <- re:split(Line, "[:\\s]+"), W =/= <<>>],
    binary_to_integer(Value).

work(X, 0) -> X;
work(X, N) -> work((X * 25 + 13) band ?MASK, N - 1).

%% The rounds of work that take so long: the fastest of some tries tells.
rounds(Ns) ->
    Times = [begin S = now_ns(), _ = work(I, 100000), now_ns() - S end || I <- lists:seq(1, 9)],
    max(1, Ns * 100000 div lists:min(Times)).

random(S0) ->
    S1 = (S0 bxor (S0 bsl 13)) band 16#FFFFFFFF,
    S2 = S1 bxor (S1 bsr 17),
    (S2 bxor (S2 bsl 5)) band 16#FFFFFFFF.

triangle(N) -> N * (N + 1) div 2.

wait(0, Sum) -> Sum;
wait(Count, Sum) -> receive {done, Value} -> wait(Count - 1, Sum + Value) end.

%% --- rows

run("pingpong", #row{each = N}) ->
    Me = self(),
    Ponger = spawn(fun() -> receive P when is_pid(P) -> ponger(P) end end),
    spawn(fun() -> Ponger ! self(), Ponger ! N, pinger(Ponger, N, 0, Me) end),
    {2 * N, wait(1, 0) =:= triangle(N), ""};
run("request", #row{each = N}) ->
    Me = self(),
    Server = spawn(fun server/0),
    spawn(fun() -> asker(Server, N, 0, Me) end),
    {N, wait(1, 0) =:= triangle(N) + N, ""};
run("ring", #row{receivers = Count, each = Hops}) ->
    Me = self(),
    All = [spawn(fun() -> receive P when is_pid(P) -> ringer(P, Me) end end)
           || _ <- lists:seq(1, Count)],
    [First | Rest] = All,
    lists:foreach(fun({P, Next}) -> P ! Next end, lists:zip(All, Rest ++ [First])),
    First ! Hops,
    {Hops, wait(1, 0) =:= 1, ""};
run(Name, Row) when Name =:= "count"; Name =:= "fjthrput"; Name =:= "contend" ->
    #row{senders = S, receivers = R, each = N} = Row,
    Me = self(),
    All = [spawn(fun() -> counter(S * N, 0, Me, 0) end) || _ <- lists:seq(1, R)],
    [spawn(fun() -> produce(All, 1, N) end) || _ <- lists:seq(1, S)],
    {S * R * N, wait(R, 0) =:= S * R * triangle(N), ""};
run(Name, Row) when Name =:= "pool0"; Name =:= "pool1us" ->
    #row{senders = S, receivers = R, each = N, work = Work} = Row,
    Me = self(),
    Workers = [spawn(fun() -> counter(S * N div R, 0, Me, Work) end) || _ <- lists:seq(1, R)],
    Router = spawn(fun() -> router(Workers, Workers) end),
    [spawn(fun() -> produce([Router], 1, N) end) || _ <- lists:seq(1, S)],
    {S * N, wait(R, 0) =:= S * triangle(N), ""};
run("big", #row{receivers = Count, each = N}) ->
    Me = self(),
    All = [spawn(fun() -> receive {all, T} -> big(T, I, N, I * 7919, 0, Me) end end)
           || I <- lists:seq(1, Count)],
    Table = list_to_tuple(All),
    [P ! {all, Table} || P <- All],
    [P ! start || P <- All],
    {2 * Count * N, wait(Count, 0) =:= Count * N, ""};
run("fjcreate", #row{each = N}) ->
    Me = self(),
    Tally = atomics:new(2, []),
    spawn(fun() -> creator(1, N, Tally, Me) end),
    {N, wait(1, 0) =:= triangle(N), ""};
run("skynet", #row{each = N}) ->
    Leaves = leaves(1, N),
    Me = self(),
    spawn(fun() -> Me ! {done, grow(0, Leaves)} end),
    {Leaves + Leaves div 10, wait(1, 0) =:= Leaves * (Leaves - 1) div 2, ""};
run("idle", #row{each = N}) ->
    Before = status(<<"VmRSS">>),
    All = [spawn(fun() -> receive V -> V end end) || _ <- lists:seq(1, N)],
    Bytes = (status(<<"VmRSS">>) - Before) * 1024 / N,
    {length(All), true, io_lib:format(" figure=~.1f", [Bytes])};
run("hog", #row{receivers = Count, each = N, work = Work}) ->
    Me = self(),
    All = list_to_tuple([spawn(fun() -> light(Me) end) || _ <- lists:seq(1, Count)]),
    Hog = spawn(fun() -> hog(Work) end),
    spawn(fun() -> send_to_light(All, 0, Count * N, now_ns()) end),
    Delays = lists:sort([receive {delay, D} -> D end || _ <- lists:seq(1, Count * N)]),
    exit(Hog, kill),
    {Count * N, true, delay_figures(list_to_tuple(Delays))};
run(_, _) -> unknown.

%% --- actors

ponger(P) -> receive V -> P ! V, ponger(P) end.

pinger(Ponger, Left, Sum, Me) ->
    receive
        V when Left =:= 1 -> Me ! {done, Sum + V};
        V -> Ponger ! Left - 1, pinger(Ponger, Left - 1, Sum + V, Me)
    end.

server() -> receive {'$gen_call', From, V} -> gen:reply(From, V + 1), server() end.

asker(_, 0, Sum, Me) -> Me ! {done, Sum};
asker(Server, Left, Sum, Me) ->
    {ok, V} = gen:call(Server, '$gen_call', Left, 5000),
    asker(Server, Left - 1, Sum + V, Me).

ringer(Next, Me) ->
    receive
        0 -> Me ! {done, 1};
        V -> Next ! V - 1, ringer(Next, Me)
    end.

counter(0, Sum, Me, _) -> Me ! {done, Sum};
counter(N, Sum, Me, 0) -> receive V -> counter(N - 1, Sum + V, Me, 0) end;
counter(N, Sum, Me, Work) -> receive V -> _ = work(V, Work), counter(N - 1, Sum + V, Me, Work) end.

produce([P] = All, I, N) when I =< N -> P ! I, produce(All, I + 1, N);
produce(All, I, N) when I =< N -> [P ! I || P <- All], produce(All, I + 1, N);
produce(_, _, _) -> ok.

router([], All) -> router(All, All);
router([P | Rest], All) -> receive V -> P ! V, router(Rest, All) end.

big(T, Id, Left, R, Pongs, Me) ->
    receive
        {ping, From} -> element(From, T) ! {pong, Id}, big(T, Id, Left, R, Pongs, Me);
        {pong, _} -> big_next(T, Id, Left, R, Pongs + 1, Me);
        start -> big_next(T, Id, Left, R, Pongs, Me)
    end.

big_next(T, Id, 0, R, Pongs, Me) -> Me ! {done, Pongs}, big(T, Id, 0, R, Pongs, Me);
big_next(T, Id, Left, R0, Pongs, Me) ->
    R = random(R0),
    element(R rem tuple_size(T) + 1, T) ! {ping, Id},
    big(T, Id, Left - 1, R, Pongs, Me).

creator(I, N, Tally, Me) when I =< N ->
    P = spawn(fun() -> receive V -> once(V, N, Tally, Me) end end),
    P ! I,
    creator(I + 1, N, Tally, Me);
creator(_, _, _, _) -> ok.

once(V, N, Tally, Me) ->
    atomics:add(Tally, 2, V),
    case atomics:add_get(Tally, 1, 1) of
        N -> Me ! {done, atomics:get(Tally, 2)};
        _ -> ok
    end.

leaves(L, N) when L * 10 =< N -> leaves(L * 10, N);
leaves(L, _) -> L.

grow(First, 1) -> First;
grow(First, Size) ->
    Me = self(), Part = Size div 10,
    [spawn(fun() -> Me ! grow(First + I * Part, Part) end) || I <- lists:seq(0, 9)],
    lists:sum([receive V -> V end || _ <- lists:seq(1, 10)]).

%% --- a hog beside light ones

light(Me) -> receive Sent -> Me ! {delay, now_ns() - Sent}, light(Me) end.

hog(Work) -> _ = work(1, Work), hog(Work).

%% A message each millisecond; those of milliseconds that were slept through at once.
send_to_light(_, N, N, _) -> ok;
send_to_light(All, I, N, Start) ->
    case Start + I * 1000000 - now_ns() of
        Early when Early > 0 ->
            receive after (Early + 999999) div 1000000 -> ok end;
        _ -> ok
    end,
    element(I rem tuple_size(All) + 1, All) ! now_ns(),
    send_to_light(All, I + 1, N, Start).

delay_figures(Delays) ->
    N = tuple_size(Delays),
    At = fun(I) -> element(I, Delays) / 1000 end,
    io_lib:format(" p50=~.3f p99=~.3f p999=~.3f max=~.3f",
                  [At(N div 2 + 1), At(N - N div 100), At(N - N div 1000), At(N)]).
