module lameduck/http2-client

go 1.25.0
