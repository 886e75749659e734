/** The owner of reserved memory: an account and its organization. */
export interface MemoryOwner {
  account: string;
  organization: string;
}

/** Limits in bytes: in total, per organization and per account. */
export interface MemoryLimits {
  total: number;
  perOrganization: number;
  perAccount: number;
}

export interface Reservation {
  /** Releases all but this many bytes. */
  shrinkTo(bytes: number): void;
  /** Releases all bytes. Calling it again does nothing. */
  release(): void;
}

interface Waiting {
  owner: MemoryOwner;
  bytes: number;
  isAborted(): boolean;
  settle(isGranted: boolean): void;
}

/**
 * Bounds the memory that concurrent requests use. Requests wait in their order; one that waits for the limit of its
 * account or organization does not delay others.
 */
export class MemoryBudget {
  readonly #limits: MemoryLimits;
  readonly #used = new Map<string, number>();
  readonly #waiting = new Set<Waiting>();
  #total = 0;

  constructor(limits: MemoryLimits) {
    this.#limits = limits;
  }

  /** Reserved bytes in total. */
  get used(): number {
    return this.#total;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * @param bytes capped at the limit per account
   * @param isAborted whether the request has ended; it is asked while the request waits
   * @returns `undefined` if the request has ended
   */
  async acquire(
    owner: MemoryOwner,
    bytes: number,
    isAborted: () => boolean = () => false,
  ): Promise<Reservation | undefined> {
    const reserved = Math.min(bytes, this.#limits.perAccount);
    const isGranted = await new Promise<boolean>((settle) => {
      this.#waiting.add({ owner, bytes: reserved, isAborted, settle });
      this.#grantWaiting();
    });
    if (!isGranted) return undefined;
    let heldBytes = reserved;
    const shrinkTo = (size: number): void => {
      if (size >= heldBytes) return;
      this.#add(owner, size - heldBytes);
      heldBytes = size;
      this.#grantWaiting();
    };
    return { shrinkTo, release: () => shrinkTo(0) };
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
    const { total, perOrganization, perAccount } = this.#limits;
    /** Accounts and organizations whose oldest request does not fit. Later ones of theirs must not overtake it. */
    const blocked = new Set<string>();
    for (const next of this.#waiting) {
      const { bytes, owner } = next;
      const { account, organization } = owner;
      if (next.isAborted()) {
        this.#waiting.delete(next);
        next.settle(false);
      } else if (blocked.has(account) || blocked.has(organization)) continue;
      else if (this.#total + bytes > total) return;
      else if ((this.#used.get(organization) ?? 0) + bytes > perOrganization) blocked.add(organization);
      else if ((this.#used.get(account) ?? 0) + bytes > perAccount) blocked.add(account);
      else {
        this.#waiting.delete(next);
        this.#add(owner, bytes);
        next.settle(true);
      }
    }
  }
}
