import { useNavigate, useSearch } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useCurrentRow, useRowShortcuts } from '../../components/current-row.ts';
import { toggleId } from '../../components/table-column.tsx';
import { nextStepMessages } from '../../components/next-step-messages.ts';
import { useBulkUpdate } from '../../queries/bulk-update.ts';
import { GROUPINGS } from '../../queries/grouped-vulnerabilities.ts';
import { nextStepOf, statusOfStep } from '../../queries/next-steps.ts';
import { findLoadedIndex, loadedRows } from '../../queries/paged-list.ts';
import { statusName } from '../../queries/statuses.ts';
import type { VulnerabilityRow } from '../../queries/vulnerabilities.ts';
import {
  omitUndefined,
  type VulnerabilityListParams,
  type VulnerabilityListParamsChange,
} from '../../app/search-params.ts';
import { type Permission, useIsStaff, useListRights, usePermissions } from '../../session/permissions.ts';
import { EDIT_KINDS, type EditKind, type EditTarget, mayEdit } from './edit-targets.ts';
import { useGroupedRows } from './grouped-rows.tsx';
import { searchOfTab, tabOf } from './list-tabs.tsx';
import { DEFAULT_GROUPING, DEFAULT_SORT } from './list-toolbar.tsx';
import { vulnerabilityListMessages as messages } from './messages.ts';

export const NEW_VULNERABILITY_PATH = '/vulnerabilities/new';

export const idOf = ({ id }: VulnerabilityRow) => String(id);

function parseAddress({ open, ...params }: VulnerabilityListParams, isStaff: boolean) {
  // The server refuses these filters to others, who may have the link of a colleague.
  if (!isStaff) {
    delete params.draft;
    delete params.organization_uid;
  }
  // The router adds what an address has besides the parsed parameters.
  if (!GROUPINGS.some((one) => one === params.group)) delete params.group;
  const { columns, group: grouping = DEFAULT_GROUPING, ...search } = params;
  return {
    open,
    params,
    columns,
    grouping,
    search,
    listSearch: { sort: DEFAULT_SORT, ...searchOfTab(search) },
  };
}

/** The parameters in the URL, the rows, the current row, the selection and the open editor. */
export function useListState() {
  const address = useSearch({ from: '/vulnerabilities' });
  const isStaff = useIsStaff() === true;
  const { open, params, columns, grouping, search, listSearch } = useMemo(
    () => parseAddress(address, isStaff),
    [address, isStaff],
  );
  const navigate = useNavigate({ from: '/vulnerabilities' });
  const { list, groups, matches } = useGroupedRows(listSearch, grouping);
  const rows = useCurrentRow(list);
  const { current, setCurrent, row } = rows;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [edit, setEdit] = useState<{ kind: EditKind; targets: readonly EditTarget[] }>();
  const tab = tabOf(search);
  const [shownTab, setShownTab] = useState(tab);
  if (tab !== shownTab) {
    setShownTab(tab);
    setCurrent(undefined);
    setSelected(new Set());
  }
  /** The ids of drafts to publish. */
  const [publishing, setPublishing] = useState<readonly number[]>();
  const rightsOf = useListRights();

  // A vulnerability previewed by the URL becomes the current row once its row has loaded.
  const isOpenUnknown = open !== undefined && current === undefined;
  const openIndex = useMemo(
    () => (isOpenUnknown ? findLoadedIndex(list, ({ id }) => id === open) : -1),
    [list, open, isOpenUnknown],
  );
  if (openIndex >= 0) setCurrent(openIndex);

  const updateParams = (change: VulnerabilityListParamsChange) =>
    void navigate({ search: (previous) => omitUndefined({ ...previous, ...change }), replace: true });
  const filter = (change: VulnerabilityListParamsChange) => {
    setCurrent(undefined);
    setSelected(new Set());
    updateParams({ open: undefined, ...change });
  };
  const replaceParams = (next: VulnerabilityListParams) => {
    setCurrent(undefined);
    setSelected(new Set());
    void navigate({ search: omitUndefined({ ...next }), replace: true });
  };
  /** Whether the preview follows the current row once that has loaded. */
  const isPreviewDue = useRef(false);
  const show = (target: number) => {
    const index = groups.layout.nearest(target, target >= (current ?? -1) ? 1 : -1);
    setCurrent(index);
    const next = list.rowAt(index);
    isPreviewDue.current = next === undefined;
    if (open !== undefined && next !== undefined) updateParams({ open: next.id });
  };
  useEffect(() => {
    if (!isPreviewDue.current || row === undefined) return;
    isPreviewDue.current = false;
    if (open !== undefined) updateParams({ open: row.id });
  });
  /** The selected vulnerabilities, or else the current row. */
  const targetRows =
    selected.size > 0
      ? loadedRows(list, idOf).filter((one) => selected.has(idOf(one)))
      : row === undefined
        ? []
        : [row];
  const targets = targetRows.map((one): EditTarget => ({ ...one, rights: rightsOf(one) }));
  const kinds = EDIT_KINDS.filter((kind) => targets.every((target) => mayEdit(kind, target)));
  const openEditor = (kind: EditKind) => () => targets.length > 0 && setEdit({ kind, targets });
  const nextStep = useNextStepOf(targets, isStaff);
  const selectedColumns = useMemo(() => columns && ['title', ...columns], [columns]);
  return {
    open,
    params,
    selectedColumns,
    search,
    list,
    groups,
    matches,
    rows,
    selected,
    setSelected,
    edit,
    setEdit,
    publishing,
    setPublishing,
    draftIds: targets.flatMap(({ id, draft }) => (draft === true ? [id] : [])),
    kinds,
    openEditor,
    nextStep,
    show,
    filter,
    updateParams,
    replaceParams,
  };
}

/** The next step that all of some vulnerabilities have in common, and what takes it. */
function useNextStepOf(targets: readonly EditTarget[], isStaff: boolean) {
  const navigate = useNavigate();
  const change = useBulkUpdate();
  /** The vulnerability to ask for a retest of. */
  const [retested, setRetested] = useState<number>();
  const steps = new Set(
    targets.map(({ rights, ...target }) =>
      nextStepOf({ ...target, rights: { ...rights, decide_retest: isStaff } }),
    ),
  );
  const [step] = steps.size === 1 ? steps : [];
  const statusId = step === undefined ? undefined : statusOfStep(step);
  const [{ id } = { id: 0 }] = targets;
  const run = () => {
    if (statusId !== undefined)
      change.mutate({
        ids: targets.map((target) => target.id),
        set: { status_id: statusId },
        label: statusName(statusId),
      });
    else if (step === 'requestRetest') setRetested(id);
    else void navigate({ to: `/vulnerabilities/${id}` });
  };
  const isPossible =
    step !== undefined && step !== 'wait' && (statusId !== undefined || targets.length === 1);
  return { step: isPossible ? step : undefined, run, retested, setRetested };
}

type ListState = ReturnType<typeof useListState>;

export const EDIT_KEYS: Readonly<Record<EditKind, string>> = {
  status: 's',
  tags: 't',
  severity: 'e',
  comment: 'c',
  assignee: 'a',
  due: 'd',
};

/** What a role must permit for an edit of any vulnerability. */
const KIND_PERMISSIONS: Readonly<Record<EditKind, Permission>> = {
  status: 'comment',
  tags: 'triage',
  severity: 'report',
  comment: 'comment',
  assignee: 'comment',
  due: 'comment',
};

export function useListShortcuts(state: ListState): void {
  const { open, list, rows, selected, setSelected, show, updateParams, openEditor, kinds, nextStep } = state;
  const permissions = usePermissions();
  const navigate = useNavigate();
  const canSelect = permissions.allows('comment');
  const extendSelection = (offset: 1 | -1) => () => {
    const next = rows.offsetIndex(offset);
    const added = [rows.row, list.rowAt(next)].filter((row) => row !== undefined);
    setSelected(new Set([...selected, ...added.map(idOf)]));
    show(next);
  };
  useRowShortcuts(rows, {
    itemName: 'finding',
    onStep: show,
    open: {
      label: messages.shortcuts.preview,
      run: ({ id }) => updateParams({ open: open === id ? undefined : id }),
    },
    shortcuts: {
      ...(canSelect
        ? {
            x: {
              label: messages.shortcuts.select,
              run: () => rows.row !== undefined && setSelected(toggleId(selected, idOf(rows.row))),
            },
            J: { label: messages.shortcuts.extendDown, run: extendSelection(1) },
            K: { label: messages.shortcuts.extendUp, run: extendSelection(-1) },
            ...Object.fromEntries(
              kinds
                .filter((kind) => permissions.allows(KIND_PERMISSIONS[kind]))
                .map((kind) => [EDIT_KEYS[kind], { label: messages.shortcuts[kind], run: openEditor(kind) }]),
            ),
            ...(nextStep.step === undefined
              ? {}
              : { '.': { label: nextStepMessages.steps[nextStep.step], run: nextStep.run } }),
          }
        : {}),
      ...(permissions.allows('report')
        ? {
            n: { label: messages.shortcuts.create, run: () => void navigate({ to: NEW_VULNERABILITY_PATH }) },
          }
        : {}),
      Escape: {
        label: messages.shortcuts.escape,
        run: () => (open === undefined ? setSelected(new Set()) : updateParams({ open: undefined })),
      },
    },
  });
}
