import { connect, type Socket } from 'node:net';
import { buildRequest, type Dataset, type WorkloadName } from './workloads.ts';

/** One measurement: so many requests of a workload, over so many connections that are kept open. */
export interface LoadJob {
  port: number;
  workload: WorkloadName;
  dataset: Dataset;
  /** One for all requests, or one for each. */
  token: string | readonly string[];
  connections: number;
  requests: number;
  /** Number of the first request: writes that can only happen once go on where the last job ended. */
  from: number;
}

export interface LoadResult {
  requestsPerSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Responses by status. */
  statuses: Record<string, number>;
}

/**
 * Sends the requests of a job over plain sockets, one at a time a connection, and measures each. A client this small
 * leaves the processor to the server that it measures.
 */
async function run(job: LoadJob): Promise<LoadResult> {
  const latencies = new Float64Array(job.requests);
  const statuses: Record<string, number> = {};
  let sent = 0;
  let done = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: job.connections }, () =>
      converse(job.port, {
        next() {
          if (sent >= job.requests) return undefined;
          const request = buildRequest(job.workload, job.dataset, job.from + sent, job.token);
          sent += 1;
          return request;
        },
        answered(status, milliseconds) {
          latencies[done] = milliseconds;
          done += 1;
          statuses[status] = (statuses[status] ?? 0) + 1;
        },
      }),
    ),
  );
  const seconds = (performance.now() - started) / 1000;
  latencies.sort();
  const at = (share: number): number => latencies[Math.min(done - 1, Math.floor(done * share))] ?? 0;
  return { requestsPerSecond: done / seconds, p50: at(0.5), p99: at(0.99), statuses };
}

interface Conversation {
  /** The next request as it goes over the wire; nothing ends the conversation. */
  next(): Buffer | undefined;
  answered(status: string, milliseconds: number): void;
}

function converse(port: number, { next, answered }: Conversation): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    let began = 0;
    let buffered: Buffer[] = [];
    let length = 0;
    let expected = -1;
    const ask = (): void => {
      const request = next();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      buffered = [];
      length = 0;
      expected = -1;
      began = performance.now();
      socket.write(request);
    };
    socket.on('connect', ask);
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
      answered(head.toString('latin1', 9, 12), performance.now() - began);
      ask();
    });
  });
}

/** @returns the bytes of a whole response, or -1 while its head is not complete */
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
