import type { ListedHost } from '../../domain/assets/list-hosts.ts';
import { keyValueLines, printLines, table, writeText } from '../print.ts';

/** Maximum number of rows of the table; `--json` prints all hosts. */
const MAX_ROWS = 20;

export interface HostSummary {
  hosts: { created: number; updated: number; unchanged: number; down: number };
  /** Number of ports of the imported hosts in the report, by state. */
  ports: Record<string, number>;
  /** Number of known ports that are newly closed. */
  markedClosed: number;
  bytes: number;
  seconds: number;
}

export interface HostOutput {
  /** Resolves when the output can accept more hosts. */
  add(hosts: readonly ListedHost[]): Promise<void>;
  /** @param error why the import ended early; `null` if it completed */
  end(summary: HostSummary, error: string | null): Promise<void>;
}

/** Prints a summary and a table of the first hosts. */
export class HostTable implements HostOutput {
  readonly #first = new Map<string, ListedHost>();

  async add(hosts: readonly ListedHost[]): Promise<void> {
    // Some tools list a host once per port: the last state wins.
    for (const host of hosts)
      if (this.#first.size < MAX_ROWS || this.#first.has(host.uid)) this.#first.set(host.uid, host);
  }

  async end(summary: HostSummary): Promise<void> {
    const { created, updated, unchanged } = summary.hosts;
    const hiddenCount = created + updated + unchanged - this.#first.size;
    printLines(...formatSummary(summary));
    if (this.#first.size === 0) return;
    const rows = table(
      [...this.#first.values()],
      {
        ADDRESS: ({ address }) => address,
        UID: ({ uid }) => uid,
        'OPEN PORTS': ({ openPorts }) => openPorts,
      },
      '',
    );
    printLines('', ...rows, ...(hiddenCount > 0 ? [`and ${hiddenCount} more (use --json to list all)`] : []));
  }
}

/** Streams all hosts as one line of JSON. */
export class HostsAsJson implements HostOutput {
  readonly #organization: string;
  #hasStarted = false;

  constructor(organization: string) {
    this.#organization = organization;
  }

  async add(hosts: readonly ListedHost[]): Promise<void> {
    if (hosts.length === 0) return;
    const items = hosts.map((host) => JSON.stringify(host)).join(',');
    await writeText(this.#hasStarted ? `,${items}` : this.#prefix() + items);
    this.#hasStarted = true;
  }

  async end(summary: HostSummary, error: string | null): Promise<void> {
    const rest = JSON.stringify({ ...summary, error }).slice(1);
    await writeText(`${this.#hasStarted ? '' : this.#prefix()}],${rest}\n`);
  }

  #prefix(): string {
    return `{"organization":${JSON.stringify(this.#organization)},"assets":[`;
  }
}

function formatSummary({ hosts, ports, markedClosed, bytes, seconds }: HostSummary): string[] {
  const states = Object.entries(ports).sort(([a], [b]) => (a < b ? -1 : 1));
  return keyValueLines({
    'hosts created': hosts.created,
    'hosts updated': hosts.updated,
    'hosts unchanged': hosts.unchanged,
    'hosts down': hosts.down,
    ...Object.fromEntries(states.map(([state, count]) => [`ports ${state}`, count])),
    'ports marked closed': markedClosed,
    read: `${(bytes / 1e6).toFixed(1)} MB in ${seconds.toFixed(1)} s`,
  });
}
