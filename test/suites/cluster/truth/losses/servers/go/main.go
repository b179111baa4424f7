// A net/http server that shuts down as the example of Server.Shutdown does.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

func main() {
	name, _ := os.Hostname()
	server := &http.Server{Addr: ":" + os.Getenv("PORT"), Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest := 5
		if r.URL.Path == "/slow" {
			rest, _ = strconv.Atoi(r.URL.Query().Get("ms"))
		}
		time.Sleep(time.Duration(rest) * time.Millisecond)
		w.Header().Set("X-Served-By", name)
		w.Write([]byte("done\n"))
	})}

	idle := make(chan struct{})
	go func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		<-signals
		if err := server.Shutdown(context.Background()); err != nil {
			log.Print(err)
		}
		close(idle)
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	<-idle
}
