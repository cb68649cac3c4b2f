// Go: a goroutine for each actor, a channel for each mailbox; a pool is one channel that all of its
// workers take from.
//
//	go ROW THREADS SENDERS RECEIVERS EACH LIMIT STEPS
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	unknown     = 3
	chainLimit  = 64 // of rows whose mailboxes have no limit
	hogInterval = time.Millisecond
	overload    = 10
)

type row struct {
	name                                            string
	threads, senders, receivers, each, limit, steps uint64
}

// A worker writes its noise down, so that no work is left out.
var noise uint64

func work(x, steps uint64) uint64 {
	for i := uint64(0); i < steps; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

func workTime(steps uint64) float64 {
	best := 1e18
	for round := uint64(0); round < 9; round++ {
		repeats := 1 + 200000/(steps+1)
		start, x := time.Now(), round
		for i := uint64(0); i < repeats; i++ {
			x = work(x, steps)
		}
		atomic.StoreUint64(&noise, x)
		if ns := float64(time.Since(start).Nanoseconds()) / float64(repeats); ns < best {
			best = ns
		}
	}
	return best
}

func triangle(n uint64) uint64 { return n * (n + 1) / 2 }

func status(key string) uint64 {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) > 1 && fields[0] == key+":" {
			value, _ := strconv.ParseUint(fields[1], 10, 64)
			return value
		}
	}
	return 0
}

func print(messages uint64, start time.Time, ok bool, more string) {
	verdict := 0
	if ok {
		verdict = 1
	}
	fmt.Printf("RESULT messages=%d ns=%d ok=%d peak_kb=%d%s\n", messages,
		time.Since(start).Nanoseconds(), verdict, status("VmHWM"), more)
}

func runPingpong(r row) {
	there, back := make(chan uint64, chainLimit), make(chan uint64, chainLimit)
	done := make(chan uint64)
	start := time.Now()
	go func() {
		for i := uint64(0); i < r.each; i++ {
			back <- <-there
		}
	}()
	go func() {
		sum := uint64(0)
		for i := r.each; i > 0; i-- {
			there <- i
			sum += <-back
		}
		done <- sum
	}()
	sum := <-done
	print(2*r.each, start, sum == triangle(r.each), "")
}

// A request with a time-out, as Go has it: a channel for the answer, a timer, a select.
func runRequest(r row) {
	type request struct {
		number uint64
		answer chan uint64
	}
	requests := make(chan request, chainLimit)
	done := make(chan uint64)
	start := time.Now()
	go func() {
		for one := range requests {
			one.answer <- one.number + 1
		}
	}()
	go func() {
		sum := uint64(0)
		for i := r.each; i > 0; i-- {
			one := request{i, make(chan uint64, 1)}
			timer := time.NewTimer(5 * time.Second)
			requests <- one
			select {
			case number := <-one.answer:
				sum += number
			case <-timer.C:
				panic("a request timed out")
			}
			timer.Stop()
		}
		done <- sum
	}()
	sum := <-done
	print(r.each, start, sum == triangle(r.each)+r.each, "")
}

func runRing(r row) {
	channels := make([]chan uint64, r.receivers)
	for i := range channels {
		channels[i] = make(chan uint64, chainLimit)
	}
	done := make(chan bool)
	for i := range channels {
		in, out := channels[i], channels[(i+1)%len(channels)]
		go func() {
			for left := range in {
				if left == 0 {
					done <- true
					return
				}
				out <- left - 1
			}
		}()
	}
	start := time.Now()
	channels[0] <- r.each
	ok := <-done
	print(r.each, start, ok, "")
}

// count, fjthrput, contend: each sender to each receiver by turns.
func runStream(r row) {
	channels := make([]chan uint64, r.receivers)
	sums := make(chan uint64)
	start := time.Now()
	for i := range channels {
		channels[i] = make(chan uint64, r.limit)
		in := channels[i]
		go func() {
			sum := uint64(0)
			for number := range in {
				sum += number
			}
			sums <- sum
		}()
	}
	var senders sync.WaitGroup
	for i := uint64(0); i < r.senders; i++ {
		senders.Add(1)
		go func() {
			for k := uint64(1); k <= r.each; k++ {
				for _, channel := range channels {
					channel <- k
				}
			}
			senders.Done()
		}()
	}
	senders.Wait()
	sum := uint64(0)
	for _, channel := range channels {
		close(channel)
	}
	for range channels {
		sum += <-sums
	}
	print(r.each*r.senders*r.receivers, start, sum == triangle(r.each)*r.senders*r.receivers, "")
}

func startWorkers(r row, in chan uint64, handle func(uint64)) *sync.WaitGroup {
	var workers sync.WaitGroup
	for i := uint64(0); i < r.receivers; i++ {
		workers.Add(1)
		go func() {
			for number := range in {
				handle(number)
			}
			workers.Done()
		}()
	}
	return &workers
}

func runPool(r row) {
	in := make(chan uint64, r.limit*r.receivers)
	sums := make(chan uint64, r.receivers)
	start := time.Now()
	for i := uint64(0); i < r.receivers; i++ {
		go func() {
			sum, x := uint64(0), uint64(0)
			for number := range in {
				sum += number
				x = work(x+number, r.steps)
			}
			atomic.AddUint64(&noise, x)
			sums <- sum
		}()
	}
	var senders sync.WaitGroup
	for i := uint64(0); i < r.senders; i++ {
		senders.Add(1)
		go func() {
			for k := uint64(1); k <= r.each; k++ {
				in <- k
			}
			senders.Done()
		}()
	}
	senders.Wait()
	close(in)
	sum := uint64(0)
	for i := uint64(0); i < r.receivers; i++ {
		sum += <-sums
	}
	print(r.each*r.senders, start, sum == triangle(r.each)*r.senders, "")
}

// Senders offer the messages that are due, and drop those that do not fit.
func runOverload(r row) {
	in := make(chan uint64, r.limit*r.receivers)
	interval := workTime(r.steps) * float64(r.senders) / float64(overload*r.threads)
	handled, refused := uint64(0), uint64(0)
	start := time.Now()
	workers := startWorkers(r, in, func(number uint64) {
		if work(number, r.steps) != 0 {
			atomic.AddUint64(&handled, 1)
		}
	})
	var senders sync.WaitGroup
	for i := uint64(0); i < r.senders; i++ {
		senders.Add(1)
		go func() {
			begun, dropped := time.Now(), uint64(0)
			for k := uint64(1); k <= r.each; k++ {
				for float64(time.Since(begun)) < interval*float64(k) {
					runtime.Gosched()
				}
				select {
				case in <- k:
				default:
					dropped++
				}
			}
			atomic.AddUint64(&refused, dropped)
			senders.Done()
		}()
	}
	senders.Wait()
	close(in)
	workers.Wait()
	print(handled, start, handled+refused == r.each*r.senders, "")
}

// --- actors that come and go

func runCreate(r row) {
	var all sync.WaitGroup
	sum := uint64(0)
	start := time.Now()
	all.Add(1)
	go func() {
		for i := uint64(1); i <= r.each; i++ {
			mailbox := make(chan uint64, 1)
			all.Add(1)
			go func() {
				atomic.AddUint64(&sum, <-mailbox)
				all.Done()
			}()
			mailbox <- i
		}
		all.Done()
	}()
	all.Wait()
	print(r.each, start, sum == triangle(r.each), "")
}

func grow(first, size uint64, up chan uint64) {
	if size == 1 {
		up <- first
		return
	}
	below, sum := make(chan uint64, 10), uint64(0)
	for i := uint64(0); i < 10; i++ {
		go grow(first+i*(size/10), size/10, below)
	}
	for i := 0; i < 10; i++ {
		sum += <-below
	}
	up <- sum
}

func runSkynet(r row) {
	leaves := uint64(1)
	for leaves*10 <= r.each {
		leaves *= 10
	}
	up := make(chan uint64, 1)
	start := time.Now()
	go grow(0, leaves, up)
	sum := <-up
	print(leaves+leaves/10, start, sum == leaves*(leaves-1)/2, "")
}

func runIdle(r row) {
	channels := make([]chan uint64, r.each)
	var open sync.WaitGroup
	before, start := status("VmRSS"), time.Now()
	for i := range channels {
		channels[i] = make(chan uint64)
		open.Add(1)
		go func(in chan uint64) {
			open.Done()
			<-in
		}(channels[i])
	}
	open.Wait()
	bytes := float64(status("VmRSS")-before) * 1024 / float64(r.each)
	print(r.each, start, true, fmt.Sprintf(" figure=%.1f", bytes))
}

func runBig(r row) {
	type mail struct {
		from uint64
		pong bool
	}
	actors := make([]chan mail, r.receivers)
	for i := range actors {
		actors[i] = make(chan mail, 2*r.receivers) // each has one ping on its way
	}
	pongs := make(chan uint64)
	start := time.Now()
	for i := range actors {
		go func(id uint64) {
			random, left, got := (id+1)*0x9E3779B97F4A7C15, r.each, uint64(0)
			next := func() {
				if left == 0 {
					pongs <- got
					return
				}
				left--
				random ^= random << 13
				random ^= random >> 7
				random ^= random << 17
				actors[random%r.receivers] <- mail{id, false}
			}
			next()
			for one := range actors[id] {
				if !one.pong {
					actors[one.from] <- mail{id, true}
					continue
				}
				got++
				next()
			}
		}(uint64(i))
	}
	sum := uint64(0)
	for range actors {
		sum += <-pongs
	}
	print(2*r.each*r.receivers, start, sum == r.each*r.receivers, "")
}

// --- delays

func delayFigures(delays []int64) string {
	sort.Slice(delays, func(i, k int) bool { return delays[i] < delays[k] })
	n := len(delays)
	at := func(i int) float64 { return float64(delays[i]) / 1000 }
	return fmt.Sprintf(" p50=%.3f p99=%.3f p999=%.3f max=%.3f", at(n/2), at(n-1-n/100),
		at(n-1-n/1000), at(n-1))
}

func runLatency(r row) {
	runtime.GOMAXPROCS(int(r.threads) + 1) // the sender has one for itself
	in := make(chan uint64, 1<<16)
	sent, delays := make([]int64, r.each), make([]int64, r.each)
	interval := 2 * workTime(r.steps)
	start := time.Now()
	workers := startWorkers(r, in, func(number uint64) {
		if work(number, r.steps) != 0 {
			delays[number] = time.Since(start).Nanoseconds() - sent[number]
		}
	})
	runtime.LockOSThread()
	for i := range sent {
		sent[i] = int64(interval * float64(i))
		for time.Since(start).Nanoseconds() < sent[i] {
		}
		in <- uint64(i)
	}
	close(in)
	workers.Wait()
	print(r.each, start, true, delayFigures(delays))
}

func runHog(r row) {
	count := r.each * r.receivers
	sent, delays := make([]int64, count), make([]int64, count)
	channels := make([]chan uint64, r.receivers)
	stop := uint32(0)
	var done sync.WaitGroup
	start := time.Now()
	for i := range channels {
		channels[i] = make(chan uint64, chainLimit)
		go func(in chan uint64) {
			for number := range in {
				delays[number] = time.Since(start).Nanoseconds() - sent[number]
				done.Done()
			}
		}(channels[i])
	}
	go func() {
		for atomic.LoadUint32(&stop) == 0 {
			atomic.StoreUint64(&noise, work(1, r.steps))
			runtime.Gosched()
		}
	}()
	runtime.LockOSThread()
	for i := range sent {
		time.Sleep(time.Duration(i)*hogInterval - time.Since(start))
		sent[i] = time.Since(start).Nanoseconds()
		done.Add(1)
		channels[uint64(i)%r.receivers] <- uint64(i)
	}
	done.Wait()
	atomic.StoreUint32(&stop, 1)
	print(count, start, true, delayFigures(delays))
}

func main() {
	rows := map[string]func(row){
		"pingpong": runPingpong, "request": runRequest, "ring": runRing, "count": runStream,
		"fjthrput": runStream, "contend": runStream, "big": runBig, "pool0": runPool,
		"pool1us": runPool, "overload": runOverload, "fjcreate": runCreate, "skynet": runSkynet,
		"idle": runIdle, "latency": runLatency, "hog": runHog,
	}
	if len(os.Args) < 8 {
		os.Exit(64)
	}
	numbers := [6]uint64{}
	for i := range numbers {
		number, err := strconv.ParseUint(os.Args[2+i], 10, 64)
		if err != nil {
			os.Exit(64)
		}
		numbers[i] = number
	}
	r := row{os.Args[1], numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]}
	run, known := rows[r.name]
	if !known {
		os.Exit(unknown)
	}
	runtime.GOMAXPROCS(int(r.threads))
	run(r)
}
