import { RelativeTime } from '../page-kit/relative-time.tsx';
import { MESSAGES } from './messages.ts';

interface LastUseProps {
  /** Milliseconds since 1970; `null` if never. */
  at: number | null;
  /** The client's address; `null` if unknown. */
  address: string | null;
  /** The text for no use. */
  unused?: string;
}

/** A sentence on when and from which address a credential was last used. */
export function LastUse({ at, address, unused = MESSAGES.lastUse.unused }: LastUseProps) {
  if (at === null) return <>{unused}</>;
  return (
    <>
      {MESSAGES.lastUse.lastUsed} <RelativeTime at={at} />
      {address !== null && MESSAGES.lastUse.from(address)}.
    </>
  );
}
