import { ActionIcon, Button, Drawer } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconChevronLeft, IconMenu2, IconSearch } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useCommandPalette } from '../components/command-palette/use-command-palette.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { PageLayout } from '../components/page.tsx';
import { organizationsQuery } from '../queries/organizations.ts';
import { useSelectedOrganization } from '../session/selected-organization.ts';
import { currentUserQuery, useHasNoAccess } from '../session/permissions.ts';
import { AccountMenu } from './account-menu.tsx';
import { appMessages } from './messages.ts';
import { organizationSearch, useCurrentNavItem, useNavItems } from './nav-items.ts';
import { useRestoreFocus } from './restore-focus.ts';
import { SessionExpiredDialog } from './session-expired-dialog.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.tsx';
import { Sidebar } from './sidebar.tsx';

/** The frame of the console: the sidebar, or a bar and a drawer in narrow windows, and the page. */
export function Shell() {
  const [isNavigationOpen, { open: openNavigation, close: closeNavigation }] = useDisclosure();
  const navigate = useNavigate();
  const items = useNavItems();
  const selected = useSelectedOrganization();
  const router = useRouter();
  useEffect(() => router.subscribe('onBeforeNavigate', closeNavigation), [router, closeNavigation]);
  useFocusOnNavigation();
  useRestoreFocus();
  const { palette, openPalette } = useCommandPalette();
  const search = () => {
    closeNavigation();
    openPalette();
  };
  useShortcuts(
    Object.fromEntries(
      items.map((item) => [
        `g ${item.key}`,
        {
          label: appMessages.shortcuts.goTo(item.label),
          run: () => void navigate({ to: item.to, search: organizationSearch(item, selected) }),
        },
      ]),
    ),
  );
  return (
    <div className={classes.frame}>
      <a className={classes.skip} href="#content">
        {appMessages.skipToContent}
      </a>
      <header className={classes.side}>
        <Sidebar onSearch={search} />
      </header>
      <TopBar onMenu={openNavigation} onSearch={search} />
      <Drawer
        opened={isNavigationOpen}
        onClose={closeNavigation}
        size={264}
        title="Assay"
        classNames={{ body: classes.drawer }}
      >
        <Sidebar onSearch={search} />
      </Drawer>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Content />
      </main>
      {palette}
      <SessionExpiredDialog />
    </div>
  );
}

/** The bar of narrow windows: the menu, where one is, the search and the account. */
function TopBar({ onMenu, onSearch }: { onMenu: () => void; onSearch: () => void }) {
  const { item, isTopLevel } = useCurrentNavItem();
  return (
    <header className={classes.top}>
      <ActionIcon
        variant="subtle"
        color="gray"
        size={40}
        aria-label={appMessages.openNavigation}
        onClick={onMenu}
      >
        <IconMenu2 size={16} aria-hidden />
      </ActionIcon>
      {item !== undefined && !isTopLevel ? (
        <Link to={item.to} className={classes.back}>
          <IconChevronLeft size={16} aria-hidden />
          {item.label}
        </Link>
      ) : (
        <span className={classes.here} aria-hidden>
          {item?.label}
        </span>
      )}
      <ActionIcon variant="subtle" color="gray" size={40} aria-label={appMessages.search} onClick={onSearch}>
        <IconSearch size={16} aria-hidden />
      </ActionIcon>
      <AccountMenu isCompact />
    </header>
  );
}

/** The current page, or `NoAccess` in place of a page that would be empty. */
function Content() {
  const hasNoAccess = useHasNoAccess();
  const { item } = useCurrentNavItem();
  if (hasNoAccess && item !== undefined && item.isManaged !== true) return <NoAccess title={item.label} />;
  return <Outlet />;
}

/** Focuses the content after a navigation, for keyboard and screen reader users. */
function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onResolved', ({ fromLocation, pathChanged }) => {
        const focused = document.activeElement;
        const content = document.getElementById('content');
        // An element that took the focus on mount, such as a form field, keeps it.
        if (fromLocation === undefined || !pathChanged || content?.contains(focused) === true) return;
        if (focused?.closest('[role="dialog"]') == null || focused.closest('nav') !== null) content?.focus();
      }),
    [router],
  );
}

/** Shown in place of pages that are empty for users without access to any assessment. */
function NoAccess({ title }: { title: string }) {
  const { data: organizations } = useQuery(organizationsQuery);
  // Refetched whenever this is shown: an admin may have given access meanwhile.
  const { data: user, isFetching, refetch } = useQuery({ ...currentUserQuery, staleTime: 0 });
  const organization = organizations?.[0]?.name ?? appMessages.noAccess.organization;
  return (
    <PageLayout title={title}>
      <EmptyState
        title={appMessages.noAccess.title}
        action={
          <Button variant="default" loading={isFetching} onClick={() => void refetch()}>
            {appMessages.noAccess.checkAgain}
          </Button>
        }
      >
        {appMessages.noAccess.hint(organization, user?.email ?? appMessages.noAccess.you)}
      </EmptyState>
    </PageLayout>
  );
}
