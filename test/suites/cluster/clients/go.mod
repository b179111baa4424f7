module lameduck.test/clients

go 1.24
