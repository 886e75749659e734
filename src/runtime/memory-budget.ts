/** The owner of reserved memory: an account and its organization. */
export interface MemoryOwner {
  account: string;
  organization: string;
}

/** Bytes in all, and of one organization and one account. */
export interface MemoryLimits {
  total: number;
  perOrganization: number;
  perAccount: number;
}

export interface Reservation {
  /** Returns what is not needed. */
  shrinkTo(bytes: number): void;
  /** Returns the rest. Calling it again does nothing. */
  release(): void;
}

interface Waiting {
  owner: MemoryOwner;
  bytes: number;
  grant(): void;
}

/**
 * Bounds the memory that concurrent requests use. A request waits until it fits, in the order of requests among those
 * of accounts and organizations below their own limits.
 */
export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #used = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Reserved bytes in all. */
  get used(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /** @param bytes more than an account may have counts as that */
  async acquire(owner: MemoryOwner, bytes: number): Promise<Reservation> {
    const reserved = Math.min(bytes, this.#limits.perAccount);
    if (this.#fits(owner, reserved)) this.#add(owner, reserved);
    else await new Promise<void>((resolve) => this.#waiting.add({ owner, bytes: reserved, grant: resolve }));
    let held = reserved;
    const shrinkTo = (size: number): void => {
      if (size >= held) return;
      this.#add(owner, size - held);
      held = size;
      this.#grantWaiting();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
  }

  #fits({ account, organization }: MemoryOwner, bytes: number): boolean {
    const { total, perOrganization, perAccount } = this.#limits;
    return (
      this.#total + bytes <= total &&
      (this.#used.get(organization) ?? 0) + bytes <= perOrganization &&
      (this.#used.get(account) ?? 0) + bytes <= perAccount
    );
  }

  #add({ account, organization }: MemoryOwner, bytes: number): void {
    this.#total += bytes;
    for (const key of [account, organization]) {
      const used = (this.#used.get(key) ?? 0) + bytes;
      if (used === 0) this.#used.delete(key);
      else this.#used.set(key, used);
    }
  }

  #grantWaiting(): void {
    for (const next of this.#waiting) {
      if (!this.#fits(next.owner, next.bytes)) continue;
      this.#waiting.delete(next);
      this.#add(next.owner, next.bytes);
      next.grant();
    }
  }
}
