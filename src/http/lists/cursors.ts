import { createHash } from 'node:crypto';
import type { RowPosition } from '../../domain/lists/keyset.ts';
import type { SortColumn, ListRequest } from '../../domain/lists/define-list.ts';
import { Problem } from '../problems.ts';

/** A cursor is valid only for the list, filters and sort order it was made for. */
interface CursorScope {
  list: string;
  listRequest: ListRequest;
  column: SortColumn;
  idType: 'integer' | 'text';
}

export function encodeCursor(scope: CursorScope, { value, id }: RowPosition): string {
  return Buffer.from(JSON.stringify([fingerprint(scope), value, id])).toString('base64url');
}

/**
 * @param source the parameter with the cursor
 * @throws Problem `invalid-request` for an invalid cursor, and for one of another list, filter or sort order
 */
export function decodeCursor(scope: CursorScope, cursor: string, source: string): RowPosition {
  const position = parseCursor(cursor);
  if (
    position === undefined ||
    position.digest !== fingerprint(scope) ||
    !hasType(position.value, scope.column) ||
    !hasType(position.id, { type: scope.idType })
  )
    throw new Problem(
      'invalid-request',
      `${source} is not a cursor of this list with these filters and this sort order. Start again with an empty cursor.`,
      { source, fieldErrors: [{ property: source, message: 'is not a cursor of this list', value: cursor }] },
    );
  return { value: position.value as RowPosition['value'], id: position.id as RowPosition['id'] };
}

function parseCursor(cursor: string): { digest: unknown; value: unknown; id: unknown } | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (!Array.isArray(parts) || parts.length !== 3) return undefined;
    const [digest, value, id] = parts as [unknown, unknown, unknown];
    return { digest, value, id };
  } catch {
    return undefined;
  }
}

function hasType(value: unknown, { type, nullable = false }: Pick<SortColumn, 'type' | 'nullable'>): boolean {
  if (value === null) return nullable;
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'real') return typeof value === 'number' && Number.isFinite(value);
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function fingerprint({ list, listRequest: { filters, sort, descending } }: CursorScope): string {
  const active = Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const text = JSON.stringify([list, active, sort, descending]);
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}
