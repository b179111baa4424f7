import * as lameduck from 'lameduck';
import serveAndEnd from './serve-and-end.cjs';

await serveAndEnd(lameduck);
