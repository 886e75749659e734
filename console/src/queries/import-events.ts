import { api, type ImportJob } from './client.ts';

/** How often it is asked where no stream comes through, in milliseconds. */
const POLL_INTERVAL = 1_500;

/**
 * Follows an import to its end: by its events (operation 68), which a browser cannot ask for with a token but by a request;
 * and by asking again and again (operation 67) where something between here and the server lets no stream through.
 * @returns the import when it has ended
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

/** The events of WHATWG server-sent events, without comments. */
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
    const whole = text.split('\n\n');
    text = whole.pop() ?? '';
    for (const event of whole) {
      const member = (name: string) =>
        event
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2);
      const told = member('data');
      if (told !== undefined) yield { name: member('event') ?? '', data: told };
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
