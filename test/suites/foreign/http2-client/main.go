// Sends HTTP/2 requests with net/http, without TLS or over TLS, until the server no longer responds.
//
//	http2-client URL
//
// For each request that has ended it prints a line of fields, separated by tabs: the query, the status, the length of
// the body, the local port, the number of times that the request was sent, and the error.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

const sessions = 4

// The timeout of a request, more than ten times as long as the longest request takes.
const patience = 15 * time.Second

// kinds are the kinds of requests that each session sends. When a request of a kind has its response, the next one of
// this kind is sent.
var kinds = map[string]func() (query string, body io.Reader){
	"get": func() (string, io.Reader) {
		return fmt.Sprintf("after=%d", rand.IntN(30)), nil
	},
	// net/http can repeat this request if the server refuses it.
	"replayable": func() (string, io.Reader) {
		return fmt.Sprintf("sends=10000&after=%d", rand.IntN(30)), bytes.NewReader(make([]byte, 10_000))
	},
	// net/http cannot repeat this request, because the type of its body is hidden.
	"once": func() (string, io.Reader) {
		return "sends=10000", struct{ io.Reader }{bytes.NewReader(make([]byte, 10_000))}
	},
	"uploading": func() (string, io.Reader) {
		return "sends=10000", upload(5, 2_000, 10*time.Millisecond)
	},
	"downloading": func() (string, io.Reader) {
		return "pieces=5&bytes=20000&after=10", nil
	},
}

func main() {
	var workers sync.WaitGroup
	for session := range sessions {
		client := &http.Client{Transport: transport(), Timeout: patience}
		for name, next := range kinds {
			workers.Go(func() {
				for count := 0; ; count++ {
					query, body := next()
					if !ask(client, fmt.Sprintf("id=%s-%d-%d&%s", name, session, count, query), body) {
						return
					}
				}
			})
		}
	}
	workers.Wait()
}

func transport() *http.Transport {
	protocols := new(http.Protocols)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Transport{Protocols: protocols, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
}

// ask sends a request, prints its result, and reports whether the handler responded.
func ask(client *http.Client, query string, body io.Reader) bool {
	// A goroutine of the transport writes these variables, and it may outlive the request.
	var port, sent atomic.Int64
	ctx := httptrace.WithClientTrace(context.Background(), &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) {
			port.Store(int64(info.Conn.LocalAddr().(*net.TCPAddr).Port))
		},
		WroteHeaders: func() { sent.Add(1) },
	})
	status, length, err := exchange(ctx, client, query, body)
	said := ""
	if err != nil {
		said = err.Error()
	}
	fmt.Printf("%s\t%d\t%d\t%d\t%d\t%s\n", query, status, length, port.Load(), sent.Load(), said)
	return err == nil && status == http.StatusOK
}

func exchange(ctx context.Context, client *http.Client, query string, body io.Reader) (status int, length int64, err error) {
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	request, err := http.NewRequestWithContext(ctx, method, os.Args[1]+"/?"+query, body)
	if err != nil {
		return 0, 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	if response.ProtoMajor != 2 {
		return response.StatusCode, 0, fmt.Errorf("answered by %s", response.Proto)
	}
	length, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, length, err
}

// upload returns a body that is sent in pieces. It ends early if nothing reads it any more.
func upload(pieces, length int, pause time.Duration) io.Reader {
	reader, writer := io.Pipe()
	go func() {
		for range pieces {
			if _, err := writer.Write(make([]byte, length)); err != nil {
				return
			}
			time.Sleep(pause)
		}
		writer.Close()
	}()
	return reader
}
