// The test clients in Go, on net/http. They read the same jobs and write the same output as ../programs/client.ts. Go
// repeats a request by itself if its kept connection has ended. Such a request counts as lost or refused, as if Go had
// not repeated it.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/signal"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	mathrand "math/rand/v2"
)

type job struct {
	Name, Kind, URL string
	Clients, Rest   int
}

type tally struct {
	Requests            int   `json:"requests"`
	Answered            int   `json:"answered"`
	Lost                int   `json:"lost"`
	Refused             int   `json:"refused"`
	Wrong               int   `json:"wrong"`
	Connections         int   `json:"connections"`
	ToldToClose         int   `json:"toldToClose"`
	SlowestMilliseconds int64 `json:"slowestMilliseconds"`
}

type podSecond struct {
	Answered int `json:"answered"`
	Kept     int `json:"kept"`
}

type exchange struct {
	outcome, reason, pod       string
	newConnection, toldToClose bool
}

const answerLimit = 30 * time.Second

var (
	mutex    sync.Mutex
	tallies  = map[string]*tally{}
	answered = map[string]int{}
	kept     = map[int]string{}
)

func say(line map[string]any) {
	text, _ := json.Marshal(line)
	fmt.Println(string(text))
}

func add(client int, j job, e exchange, took time.Duration) {
	mutex.Lock()
	defer mutex.Unlock()
	t := tallies[j.Name]
	if t == nil {
		t = &tally{}
		tallies[j.Name] = t
	}
	t.Requests++
	*map[string]*int{"answered": &t.Answered, "lost": &t.Lost, "refused": &t.Refused, "wrong": &t.Wrong}[e.outcome]++
	if e.newConnection {
		t.Connections++
	}
	if e.toldToClose {
		t.ToldToClose++
	}
	t.SlowestMilliseconds = max(t.SlowestMilliseconds, took.Milliseconds())
	pod := e.pod
	if pod == "" && !e.newConnection {
		pod = kept[client]
	}
	if e.outcome != "answered" {
		say(map[string]any{"type": "failure", "at": time.Now().UnixMilli(), "name": j.Name, "outcome": e.outcome, "reason": e.reason, "pod": pod})
	}
	delete(kept, client)
	if e.pod != "" {
		answered[e.pod]++
		if !e.toldToClose && !strings.HasPrefix(j.Kind, "new") {
			kept[client] = e.pod
		}
	}
}

func saySecond() {
	mutex.Lock()
	defer mutex.Unlock()
	pods := map[string]podSecond{}
	for pod, count := range answered {
		pods[pod] = podSecond{Answered: count}
	}
	for _, pod := range kept {
		pods[pod] = podSecond{Answered: pods[pod].Answered, Kept: pods[pod].Kept + 1}
	}
	answered = map[string]int{}
	say(map[string]any{"type": "second", "at": time.Now().UnixMilli(), "tallies": tallies, "pods": pods})
}

// connection records whether the server has ended it. Go itself drops a connection if the request is not completely
// sent 50 ms after its response, which happens on a busy machine.
type connection struct {
	net.Conn
	isTold, isEnded atomic.Bool
}

func (c *connection) Read(bytes []byte) (int, error) {
	count, err := c.Conn.Read(bytes)
	if err != nil && !errors.Is(err, net.ErrClosed) {
		c.isEnded.Store(true)
	}
	return count, err
}

// client sends one request after another, on one connection at a time.
type client struct {
	http    *http.Client
	current atomic.Pointer[connection]
}

func clientFor(j job) *client {
	c := &client{}
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		made := &connection{Conn: conn}
		c.current.Store(made)
		return made, nil
	}
	transport := &http.Transport{DialContext: dial, MaxConnsPerHost: 1, DisableKeepAlives: strings.HasPrefix(j.Kind, "new")}
	if j.Kind == "HTTP/2" {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	c.http = &http.Client{Transport: transport, Timeout: answerLimit}
	return c
}

// replaced reports whether a new connection is the first one, or replaces a connection that the server has ended.
func replaced(before *connection) bool {
	return before == nil || before.isTold.Load() || before.isEnded.Load()
}

func ask(c *client, j job) exchange {
	method, path, order, body := "GET", "/", "", io.Reader(nil)
	if strings.HasSuffix(j.Kind, "POST") || j.Kind == "HTTP/2" {
		method, path, order = "POST", "/orders", rand.Text()
		body = bytes.NewReader(fmt.Appendf(nil, `{"id":%q}`, order))
	}
	request, err := http.NewRequest(method, strings.TrimSuffix(j.URL, "/")+path, body)
	if err != nil {
		panic(err)
	}
	request.GetBody = nil // Without GetBody, Go cannot send the request a second time.
	request.Header.Set("Content-Type", "application/json")
	attempts, fresh := 0, false
	trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		attempts++
		fresh = !info.Reused
	}}
	before := c.current.Load()
	response, err := c.http.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	e := exchange{newConnection: fresh && replaced(before)}
	if err != nil {
		e.outcome, e.reason = "lost", err.Error()
		var failure *net.OpError
		// Go returns this error if it would have sent the request again but could not.
		isRefused := strings.Contains(err.Error(), "cannot retry")
		if attempts == 0 || isRefused || (errors.As(err, &failure) && failure.Op == "dial") {
			e.outcome = "refused"
		}
		return e
	}
	defer response.Body.Close()
	e.pod = response.Header.Get("X-Served-By")
	if e.toldToClose = response.Close; e.toldToClose {
		c.current.Load().isTold.Store(true)
	}
	text, err := io.ReadAll(response.Body)
	switch {
	case err != nil:
		e.outcome, e.reason = "lost", err.Error()
	case attempts > 1:
		e.outcome, e.reason = "lost", fmt.Sprintf("answered at attempt %d", attempts)
		if j.Kind == "HTTP/2" {
			e.outcome = "refused"
		}
	case response.StatusCode == 429 || response.StatusCode == 503:
		e.outcome, e.reason = "refused", response.Status
	case response.StatusCode >= 300 || !bytes.Contains(text, []byte(order)):
		e.outcome, e.reason = "wrong", response.Status
	default:
		e.outcome = "answered"
	}
	return e
}

func firstAnswer(j job) {
	deadline := time.Now().Add(time.Minute)
	client := clientFor(j)
	defer client.http.CloseIdleConnections()
	for {
		e := ask(client, j)
		if e.outcome == "answered" {
			return
		}
		if time.Now().After(deadline) {
			panic("no answer to " + j.Name + " from " + j.URL + ": " + e.reason)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func main() {
	var jobs []job
	if len(os.Args) != 2 || json.Unmarshal([]byte(os.Args[1]), &jobs) != nil {
		panic("usage: client JOBS, as JSON; SIGTERM stops the clients, which print a summary")
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	for _, j := range jobs {
		firstAnswer(j)
	}
	say(map[string]any{"type": "started"})
	over := make(chan struct{})
	var all sync.WaitGroup
	number := 0
	for _, j := range jobs {
		for range j.Clients {
			number++
			all.Add(1)
			go func(id int) {
				defer all.Done()
				client := clientFor(j)
				defer client.http.CloseIdleConnections()
				for {
					began := time.Now()
					e := ask(client, j)
					add(id, j, e, time.Since(began))
					rest := time.Duration(float64(j.Rest) * (0.5 + mathrand.Float64()) * float64(time.Millisecond))
					select {
					case <-over:
						return
					case <-time.After(rest):
					}
				}
			}(number)
		}
	}
	seconds := time.NewTicker(time.Second)
	for running := true; running; {
		select {
		case <-seconds.C:
			saySecond()
		case <-stop:
			running = false
		}
	}
	close(over)
	all.Wait()
	saySecond()
	say(map[string]any{"type": "summary", "tallies": tallies})
}
