import { ATTACKS } from './attacks.ts';
import { Client } from './client.ts';

export interface AttackJob {
  port: number;
  seconds: number;
  /** Part of the names of the attacks to make. */
  only: string;
  accounts: { token: string; address: string }[];
  assessment: string;
  vulnerability: number;
}

/** The number of runs of each attack. */
export type AttackCounts = Record<string, number>;

/** Repeats every attack with every account until the time is up. */
async function attack({
  port,
  seconds,
  only,
  accounts,
  assessment,
  vulnerability,
}: AttackJob): Promise<AttackCounts> {
  const end = performance.now() + seconds * 1_000;
  const stranger = new Client(port, '127.0.0.9');
  const counts: AttackCounts = {};
  await Promise.all(
    accounts.flatMap(({ token, address }) => {
      const client = new Client(port, address, token);
      const target = { client, stranger, assessment, vulnerability };
      return Object.entries(ATTACKS)
        .filter(([name]) => only.split(',').some((part) => name.includes(part)))
        .map(async ([name, run]) => {
          while (performance.now() < end) {
            await run(target);
            counts[name] = (counts[name] ?? 0) + 1;
          }
        });
    }),
  );
  return counts;
}

process.on('message', (job: AttackJob) => {
  void attack(job).then((counts) => {
    process.send?.(counts);
    process.disconnect();
    process.exit();
  });
});
