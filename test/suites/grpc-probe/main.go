// Probes a gRPC health service once, as the kubelet does: its own connection, without TLS, and one call.
//
// 	grpc-probe ADDRESS SERVICE
//
// It prints the status or the error, and exits with 0 only for SERVING.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func main() {
	status, err := probe(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	fmt.Println(status)
	if status != grpc_health_v1.HealthCheckResponse_SERVING {
		os.Exit(1)
	}
}

func probe(address, service string) (grpc_health_v1.HealthCheckResponse_ServingStatus, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	connection, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUserAgent("kube-probe/1.36"))
	if err != nil {
		return 0, err
	}
	defer connection.Close()
	response, err := grpc_health_v1.NewHealthClient(connection).Check(ctx, &grpc_health_v1.HealthCheckRequest{Service: service})
	if err != nil {
		return 0, err
	}
	return response.Status, nil
}
