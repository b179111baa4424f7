// If a primary of node:cluster has called `lameduck([])`, Node loads this file at the start of each worker. A worker
// without `lameduck()` in its code then gets the lifecycle of `lameduck/register`. A process that a worker forks
// inherits the option that loads this file. Such a process is not a worker, so this file does nothing there.
import type * as Cluster from 'node:cluster';

if ((require('node:cluster') as Cluster.Cluster).isWorker) require('../register.cts');
