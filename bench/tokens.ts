import {
  type Bench,
  CONNECTIONS,
  measure,
  type Measurement,
  progress,
  type BenchmarkResult,
  ROUNDS,
  summary,
} from './measure.ts';

const FRESH_TOKENS = 4_000;

/** Compares requests with tokens seen for the first time with requests with a cached token. */
export async function freshTokens(bench: Bench): Promise<BenchmarkResult[]> {
  progress(`${bench.engine}: fresh-tokens`);
  const workload = 'op12-members';
  const measured = { cached: [] as Measurement[], fresh: [] as Measurement[] };
  const [cached = ''] = await fetchTokens(bench, 1);
  await measure({ ...bench, token: cached }, bench.assay, workload, CONNECTIONS, FRESH_TOKENS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const tokens = await fetchTokens(bench, FRESH_TOKENS);
    measured.cached.push(
      await measure({ ...bench, token: cached }, bench.assay, workload, CONNECTIONS, FRESH_TOKENS),
    );
    measured.fresh.push(
      await measure({ ...bench, token: tokens }, bench.assay, workload, CONNECTIONS, FRESH_TOKENS),
    );
  }
  const [fresh, remembered] = [summary(measured.fresh), summary(measured.cached)];
  const { engine } = bench;
  return [
    {
      engine,
      workload: `${workload}, a fresh JWT each`,
      ...fresh,
      ratio: fresh.requestsPerSecond / remembered.requestsPerSecond,
      target: '',
      holds: true,
    },
    { engine, workload: `${workload}, one JWT`, ...remembered, ratio: 1, target: '', holds: true },
  ];
}

/** @returns distinct access tokens */
async function fetchTokens({ assay, dataset }: Bench, count: number): Promise<string[]> {
  const { id, secret } = dataset.client;
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const tokens: string[] = [];
  const fetchSome = async (): Promise<void> => {
    while (tokens.length < count) {
      const response = await fetch(`http://127.0.0.1:${assay.port}/oauth/token`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        body: 'grant_type=client_credentials',
      });
      const body = (await response.json()) as { access_token: string };
      tokens.push(body.access_token);
    }
  };
  await Promise.all(Array.from({ length: 16 }, fetchSome));
  return tokens.slice(0, count);
}
