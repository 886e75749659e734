import { on } from 'node:events';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { readNmapReport, type ReportPiece } from './formats/nmap/nmap-pieces.ts';
import { type Place, ReportError } from './report.ts';

/** Chunks that the thread is given ahead of their answers, so that it does not wait while the database writes. */
const MAX_AHEAD = 16;
/** In MiB: nearly all that the thread makes is soon thrown away. */
const NURSERY_SIZE = 8;

/**
 * One answer to each chunk and two at the end. A piece is JSON, as objects cost more to hand over, and in bytes that
 * change hands, as text that waits its turn would grow old in the heap, and old garbage stays for long.
 */
type Message =
  | { piece: Uint8Array<ArrayBuffer> }
  /** Follows the last piece. */
  | { end: true }
  | { failure: string; place?: Place };

/** `readNmapReport` in a thread of its own, so that reading and writing share the time on two processors. */
export async function* readNmapReportInThread(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<ReportPiece, void> {
  const worker = new Worker(new URL(import.meta.url), {
    resourceLimits: { maxYoungGenerationSizeMb: NURSERY_SIZE },
  });
  const answers = on(worker, 'message', { close: ['exit'] });
  let coverage: ReportPiece['coverage'] = [];
  let ended = false;
  /** Whether the thread said that it cannot go on, or is gone: nothing more comes. */
  let failed = false;
  const receive = async (): Promise<ReportPiece[]> => {
    const { value } = (await answers.next()) as { value: [Message] | undefined };
    if (value === undefined) throw new Error('The thread that reads the report ended by itself.');
    const [message] = value;
    if ('failure' in message) {
      throw message.place === undefined
        ? new Error(message.failure)
        : new ReportError(message.failure, message.place);
    }
    if ('end' in message) {
      ended = true;
      return [];
    }
    const piece = JSON.parse(Buffer.from(message.piece.buffer).toString()) as Omit<ReportPiece, 'coverage'> &
      Partial<ReportPiece>;
    coverage = piece.coverage ?? coverage;
    return [{ ...piece, coverage }];
  };
  const next = (): Promise<ReportPiece[]> =>
    receive().catch((error: unknown) => {
      failed = true;
      throw error;
    });
  let ahead = 0;
  try {
    for await (const chunk of chunks) {
      // A chunk that has a buffer to itself is given away; any other has to be copied.
      const own = chunk.byteLength === chunk.buffer.byteLength ? chunk : Uint8Array.from(chunk);
      worker.postMessage(own, [own.buffer as ArrayBuffer]);
      for (ahead += 1; ahead > MAX_AHEAD; ahead -= 1) yield* await next();
    }
    worker.postMessage(null, []);
    while (!ended) yield* await next();
  } catch (error) {
    // What was read before the source failed is whole all the same.
    if (!failed) for (; ahead > 0; ahead -= 1) yield* await next();
    throw error;
  } finally {
    await worker.terminate();
  }
}

async function* receivedChunks(port: NonNullable<typeof parentPort>): AsyncGenerator<Uint8Array, void> {
  for await (const [chunk] of on(port, 'message') as AsyncIterable<[Uint8Array | null]>) {
    if (chunk === null) return;
    yield chunk;
  }
}

async function answer(port: NonNullable<typeof parentPort>): Promise<void> {
  const send = (message: Message): void =>
    port.postMessage(message, 'piece' in message ? [message.piece.buffer] : []);
  const encoder = new TextEncoder();
  let told: ReportPiece['coverage'] = [];
  try {
    for await (const { coverage, ...piece } of readNmapReport(receivedChunks(port))) {
      const text = JSON.stringify(coverage === told ? piece : { ...piece, coverage });
      send({ piece: encoder.encode(text) });
      told = coverage;
    }
    send({ end: true });
  } catch (error) {
    send({
      failure: error instanceof Error ? error.message : String(error),
      ...(error instanceof ReportError ? { place: error.place } : {}),
    });
  }
}

if (!isMainThread && parentPort !== null) await answer(parentPort);
