import { connect, type Socket } from 'node:net';
import { buildRequest, type Dataset, type WorkloadName } from './workloads.ts';

/** One measurement: requests of a workload over several keep-alive connections. */
export interface LoadJob {
  port: number;
  workload: WorkloadName;
  dataset: Dataset;
  /** One token for all requests, or one for each. */
  token: string | readonly string[];
  connections: number;
  requests: number;
  /** Number of the first request. Writes that can happen only once continue where the last job ended. */
  from: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Number of responses by status. */
  statuses: Record<string, number>;
}

/**
 * Sends the requests of a job over plain sockets, one at a time per connection, and measures each. A minimal client
 * leaves the processor to the server.
 */
async function run(job: LoadJob): Promise<LoadResult> {
  const latencies = new Float64Array(job.requests);
  const statuses: Record<string, number> = {};
  let sent = 0;
  let done = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: job.connections }, () =>
      sendRequests(job.port, {
        next() {
          if (sent >= job.requests) return undefined;
          const request = buildRequest(job.workload, job.dataset, job.from + sent, job.token);
          sent += 1;
          return request;
        },
        onResponse(status, milliseconds) {
          latencies[done] = milliseconds;
          done += 1;
          statuses[status] = (statuses[status] ?? 0) + 1;
        },
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  latencies.sort();
  const percentile = (share: number): number => latencies[Math.min(done - 1, Math.floor(done * share))] ?? 0;
  return { requestsPerSecond: done / seconds, p50: percentile(0.5), p99: percentile(0.99), statuses };
}

interface RequestSource {
  /** The bytes of the next request; `undefined` ends the connection. */
  next(): Buffer | undefined;
  onResponse(status: string, milliseconds: number): void;
}

function sendRequests(port: number, { next, onResponse }: RequestSource): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let startedAt = 0;
    let buffered: Buffer[] = [];
    let length = 0;
    let expected = -1;
    const sendNext = (): void => {
      const request = next();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      buffered = [];
      length = 0;
      expected = -1;
      startedAt = performance.now();
      socket.write(request);
    };
    socket.on('connect', sendNext);
    socket.on('error', reject);
    socket.on('close', () =>
      reject(new Error('The server closed a connection in the middle of a measurement.')),
    );
    socket.on('data', (chunk: Buffer) => {
      buffered.push(chunk);
      length += chunk.length;
      if (expected < 0) expected = responseLength(buffered.length === 1 ? chunk : Buffer.concat(buffered));
      if (expected < 0 || length < expected) return;
      const head = buffered[0] as Buffer;
      onResponse(head.toString('latin1', 9, 12), performance.now() - startedAt);
      sendNext();
    });
  });
}

/** @returns the length of the response in bytes; -1 if its head is incomplete */
function responseLength(data: Buffer): number {
  const end = data.indexOf('\r\n\r\n');
  if (end < 0) return -1;
  const head = data.toString('latin1', 0, end);
  const content = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
  if (content === undefined && !head.startsWith('HTTP/1.1 204'))
    throw new Error(`A response without a length: ${head}`);
  return end + 4 + Number(content ?? 0);
}

process.on('message', (job: LoadJob) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
