import { api, type ImportJob } from './client.ts';

/** Milliseconds. */
const POLL_INTERVAL = 1_500;

/**
 * Follows an import until it finishes: by its event stream (operation 68), read with fetch because EventSource cannot send a
 * token, or by polling (operation 67) where a proxy blocks the stream.
 * @returns the finished import
 */
export async function followImport(
  id: number,
  onJob: (job: ImportJob) => void,
  signal: AbortSignal,
): Promise<ImportJob> {
  try {
    for await (const { name, data } of streamEvents(id, signal)) {
      const job = JSON.parse(data) as ImportJob;
      onJob(job);
      if (name === 'end') return job;
    }
  } catch (error) {
    if (signal.aborted) throw error;
  }
  for (;;) {
    const { data } = await api.GET('/v1/imports/{id}', { params: { path: { id } }, signal });
    onJob(data);
    if (data.finished_at !== null) return data;
    await sleep(POLL_INTERVAL, signal);
  }
}

/** Parses server-sent events (WHATWG), without comments. */
async function* streamEvents(
  id: number,
  signal: AbortSignal,
): AsyncGenerator<{ name: string; data: string }> {
  const { data } = await api.GET('/v1/imports/{id}/events', {
    params: { path: { id } },
    headers: { accept: 'text/event-stream' },
    parseAs: 'stream',
    signal,
  });
  if (data === null) return;
  const reader = data
    .pipeThrough(new TextDecoderStream() as never)
    .getReader() as ReadableStreamDefaultReader<string>;
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    text += value;
    const complete = text.split('\n\n');
    text = complete.pop() ?? '';
    for (const event of complete) {
      const member = (name: string) =>
        event
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const eventData = member('data');
      if (eventData !== undefined) yield { name: member('event') ?? '', data: eventData };
    }
  }
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}
