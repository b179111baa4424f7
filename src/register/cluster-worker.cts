// Node loads this file at the start of each worker of a primary that called `lameduck([])`. A worker without
// `lameduck()` in its code then gets the lifecycle of `lameduck/register`. A process that the worker forks inherits the
// option that loads this file. Such a process is not a worker, so this file does nothing there.
import type * as Cluster from 'node:cluster';

if ((require('node:cluster') as Cluster.Cluster).isWorker) require('../register.cts');
