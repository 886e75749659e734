/** Stored responses, replayed to repeated requests. */
export interface IdempotencyKeysTables {
  idempotency_keys: IdempotencyKeyTable;
}

/** The response to a request with an `Idempotency-Key` (ADR 36). */
interface IdempotencyKeyTable {
  /** SHA-256 of account, method, path and key, base64url. The key itself is not stored. */
  id: string;
  user_id: number;
  /** SHA-256 of the request, base64url. */
  request_hash: string;
  status: number;
  /** JSON object of header names and values. */
  headers: string;
  /** The version of the returned object; `null` if several were returned. */
  version: number | null;
  /** JSON as sent, without the omitted properties; gzip in base64 if `body_is_gzip` is 1. */
  body: string;
  body_is_gzip: number;
  created_at: number;
}
