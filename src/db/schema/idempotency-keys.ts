/** What was answered, for requests that come again. */
export interface IdempotencyKeysTables {
  idempotency_keys: IdempotencyKeyTable;
}

/** What was answered to a request with an `Idempotency-Key` (ADR 36). */
interface IdempotencyKeyTable {
  /** SHA-256 of the account, the method, the path and the key, base64url: the key itself is nowhere. */
  id: string;
  user_id: number;
  /** SHA-256 of the request, base64url. */
  request_hash: string;
  status: number;
  /** JSON: a text by name. */
  headers: string;
  /** Of the one thing that was answered; `null` for several. */
  version: number | null;
  /** JSON as it was sent, but for what is not kept; gzip in base64 where it is `body_is_gzip`. */
  body: string;
  body_is_gzip: number;
  created_at: number;
}
