import { Button, Menu, Text } from '@mantine/core';
import { IconBookmark, IconLink, IconPlus, IconSettings } from '@tabler/icons-react';
import { hashKey, useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { currentUserQuery } from '../session/permissions.ts';
import { notify } from './notifications.ts';
import { WideText } from './page-actions.tsx';
import { useSavedViews, type SavedView } from './saved-views.ts';
import { commonMessages } from './messages.ts';

const ViewDialog = lazy(() => import('./view-dialog.tsx'));

interface ViewsMenuProps {
  /** The page the views belong to: `vulnerabilities`. */
  page: string;
  /** The current filters, order and columns. */
  search: SavedView['search'];
  onApply: (search: SavedView['search']) => void;
}

/** Applies, saves and manages views, and copies a link to the current one. */
export function ViewsMenu({ page, search, onApply }: ViewsMenuProps) {
  const { data: user } = useQuery(currentUserQuery);
  const { views, save } = useSavedViews(page, user?.id);
  const messages = commonMessages.view;
  const [dialog, setDialog] = useState<'save' | 'manage' | { link: string }>();
  const now = views.find((view) => hashKey([view.search]) === hashKey([search]));
  const copy = async () => {
    const link = location.href;
    try {
      await navigator.clipboard.writeText(link);
      notify(messages.linkCopied);
    } catch {
      // Without clipboard access, as over plain http, the user copies it by hand.
      setDialog({ link });
    }
  };
  return (
    <>
      <Menu position="bottom-end" width={240}>
        <Menu.Target>
          <Button
            variant="subtle"
            color="gray"
            maw={220}
            leftSection={<IconBookmark size={16} aria-hidden />}
          >
            <WideText>{now?.name ?? 'Views'}</WideText>
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          {views.map((view) => (
            <Menu.Item
              key={view.name}
              aria-current={view === now || undefined}
              onClick={() => onApply(view.search)}
            >
              <Text size="sm" fw={view === now ? 700 : undefined} truncate="end" title={view.name}>
                {view.name}
              </Text>
            </Menu.Item>
          ))}
          {views.length > 0 && <Menu.Divider />}
          <Menu.Item leftSection={<IconPlus size={14} aria-hidden />} onClick={() => setDialog('save')}>
            {messages.save}
          </Menu.Item>
          <Menu.Item leftSection={<IconLink size={14} aria-hidden />} onClick={() => void copy()}>
            {messages.copyLink}
          </Menu.Item>
          {views.length > 0 && (
            <Menu.Item
              leftSection={<IconSettings size={14} aria-hidden />}
              onClick={() => setDialog('manage')}
            >
              {messages.manage}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {dialog !== undefined && (
        <Suspense>
          <ViewDialog
            kind={dialog}
            views={views}
            search={search}
            onSave={save}
            onClose={() => setDialog(undefined)}
          />
        </Suspense>
      )}
    </>
  );
}
