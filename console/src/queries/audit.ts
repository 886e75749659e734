import { api, type AuditEvent, parsePage } from './client.ts';
import { BYTE_ORDER_MARK, saveFile } from './save-file.ts';
import { type PagedList, PAGE_SIZE, usePagedList } from './paged-list.ts';

/** Filters of operation 60. */
export interface AuditFilter {
  action?: readonly string[] | undefined;
  object_type?: string | undefined;
  object_id?: string | undefined;
  user_id?: number | undefined;
  request_id?: string | undefined;
  since?: string | undefined;
  until?: string | undefined;
}

function toQuery({ action, ...filter }: AuditFilter) {
  const filters = Object.entries(filter).filter(([, value]) => value !== undefined);
  return {
    ...Object.fromEntries(filters.map(([name, value]) => [`filter[${name}]`, value])),
    ...(action === undefined ? {} : { 'filter[action][]': [...action] }),
  };
}

/** Lists audit events (operation 60), newest first. */
export function useAuditEvents(filter: AuditFilter): PagedList<AuditEvent> {
  return usePagedList<AuditEvent>({
    key: ['audit-events', filter],
    fetchPage: async (cursor, signal) =>
      parsePage(
        await api.GET('/v1/audit_events', {
          params: { query: { ...toQuery(filter), 'page[size]': PAGE_SIZE, 'page[after]': cursor } },
          signal,
        }),
      ),
  });
}

/** Download formats of operation 60. */
export const AUDIT_EXPORT_FORMATS = {
  CSV: { type: 'text/csv', name: 'audit-events.csv' },
  NDJSON: { type: 'application/x-ndjson', name: 'audit-events.ndjson' },
} as const;

/** Downloads all matching events, oldest first (operation 60). */
export async function exportAuditEvents(
  filter: AuditFilter,
  form: keyof typeof AUDIT_EXPORT_FORMATS,
): Promise<void> {
  const { type, name } = AUDIT_EXPORT_FORMATS[form];
  const { data } = await api.GET('/v1/audit_events', {
    params: { query: toQuery(filter) },
    headers: { accept: type },
    parseAs: 'blob',
  });
  saveFile(name, form === 'CSV' ? new Blob([BYTE_ORDER_MARK, data], { type }) : data);
}
