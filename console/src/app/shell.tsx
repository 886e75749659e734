import {
  ActionIcon,
  Burger,
  Button,
  Drawer,
  Group,
  Menu,
  NavLink,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBug,
  IconClipboardList,
  IconFileImport,
  IconHistory,
  IconHome,
  IconMoon,
  IconServer,
  IconSun,
  IconTags,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { EmptyState } from '../components/empty-state.tsx';
import { PageLayout } from '../components/page.tsx';
import { organizationsQuery } from '../queries/organizations.ts';
import { currentUserQuery, useHasNoAccess } from '../session/permissions.ts';
import { useRestoreFocus } from './restore-focus.ts';
import { SessionExpiredDialog } from './session-expired-dialog.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.tsx';
import { appMessages } from './messages.ts';

/** `key` is the second key of the shortcut: `g h` goes to Home. */
const NAV_ITEMS = [
  { to: '/', key: 'h', label: 'Home', icon: IconHome },
  { to: '/vulnerabilities', key: 'v', label: 'Vulnerabilities', icon: IconBug },
  { to: '/assets', key: 'a', label: 'Assets', icon: IconServer },
  { to: '/assessments', key: 's', label: 'Assessments', icon: IconClipboardList },
  { to: '/imports', key: 'i', label: 'Imports', icon: IconFileImport },
  { to: '/tags', key: 't', label: 'Tags', icon: IconTags },
  { to: '/groups', key: 'g', label: 'Groups', icon: IconUsersGroup },
  { to: '/people', key: 'p', label: 'People', icon: IconUsers, admin: true },
  { to: '/audit', key: 'l', label: 'Audit', icon: IconHistory, admin: true },
] as const;

/** The frame of the console: navigation on the left, account menu at the top. */
export function Shell() {
  const [isNavigationOpen, { open: openNavigation, close: closeNavigation }] = useDisclosure();
  const navigate = useNavigate();
  const items = useNavItems();
  useFocusOnNavigation();
  useRestoreFocus();
  const focusSearch = () => document.getElementById('search')?.focus();
  useShortcuts({
    ...Object.fromEntries(
      items.map(({ to, key, label }) => [
        `g ${key}`,
        { label: appMessages.shortcuts.goTo(label), run: () => void navigate({ to: to as '/' }) },
      ]),
    ),
    '/': {
      label: 'Search',
      run() {
        if (document.getElementById('search') === null)
          void navigate({ to: '/vulnerabilities' }).then(focusSearch);
        else focusSearch();
      },
    },
  });
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content">
        {appMessages.skipToContent}
      </a>
      <header className={classes.header}>
        <Burger
          size="sm"
          className={classes.burger}
          aria-label={appMessages.openNavigation}
          opened={isNavigationOpen}
          onClick={openNavigation}
        />
        <Link to="/" className={classes.brand}>
          <Logo />
          Assay
        </Link>
        <Group gap="xs" ml="auto" wrap="nowrap">
          <ColorSchemeButton />
          <AccountMenu />
        </Group>
      </header>
      <nav className={classes.nav} aria-label={appMessages.navigation}>
        <NavLinks onNavigate={closeNavigation} />
      </nav>
      <Drawer opened={isNavigationOpen} onClose={closeNavigation} size={260} title="Assay">
        <nav aria-label={appMessages.navigation}>
          <NavLinks onNavigate={closeNavigation} />
        </nav>
      </Drawer>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Content />
      </main>
      <SessionExpiredDialog />
    </div>
  );
}

/** @returns the items that the user may see */
function useNavItems() {
  const { data: user } = useQuery(currentUserQuery);
  return NAV_ITEMS.filter((item) => !('admin' in item) || user?.admin === true);
}

/** Pages that are useful without access to any assessment. */
const PATHS_OPEN_TO_ALL = ['/tags', '/groups', '/people', '/audit'];

/** The current page, or `NoAccess` in place of a page that would be empty. */
function Content() {
  const hasNoAccess = useHasNoAccess();
  const path = useLocation({ select: ({ pathname }) => `/${pathname.split('/')[1]}` });
  const item = NAV_ITEMS.find(({ to }) => to === path);
  if (hasNoAccess && item !== undefined && !PATHS_OPEN_TO_ALL.includes(path))
    return <NoAccess title={item.label} />;
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

function NavLinks({ onNavigate }: { onNavigate: () => void }) {
  return useNavItems().map(({ to, label, icon: Icon }) => (
    <NavLink
      key={to}
      label={label}
      leftSection={<Icon size={18} aria-hidden />}
      className={classes.link}
      renderRoot={(props) => (
        <Link to={to} activeOptions={{ exact: to === '/' }} {...props} onClick={onNavigate} />
      )}
    />
  ));
}

function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const isDark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={isDark ? appMessages.lightTheme : appMessages.darkTheme}
      onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
    >
      {isDark ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}

const ACCOUNT_LINKS = [
  ['/account', 'Account'],
  ['/account/security', 'Security'],
  ['/account/tokens', 'Tokens'],
  ['/account/applications', 'Applications'],
  ['/docs', 'API'],
] as const;

/** The signed-in user and their account pages. */
function AccountMenu() {
  const { data: user } = useQuery(currentUserQuery);
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="subtle" color="gray" px={6} aria-label={appMessages.account}>
          <IconUserCircle size={22} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate="end">
            {user?.email}
          </Text>
        </Menu.Label>
        {ACCOUNT_LINKS.map(([href, label]) => (
          <Menu.Item key={href} component="a" href={href}>
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>{appMessages.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
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
          <Button variant="light" loading={isFetching} onClick={() => void refetch()}>
            {appMessages.noAccess.checkAgain}
          </Button>
        }
      >
        {appMessages.noAccess.hint(organization, user?.email ?? appMessages.noAccess.you)}
      </EmptyState>
    </PageLayout>
  );
}

/** The logo of Assay, as on the account pages. */
function Logo() {
  return (
    <svg viewBox="0 0 24 24" width={24} height={24} aria-hidden focusable="false">
      <path
        fill="var(--mantine-primary-color-filled)"
        d="M12 2 20 5v6c0 5.2-3.3 9-8 11-4.7-2-8-5.8-8-11V5z"
      />
      <path
        fill="none"
        stroke="var(--mantine-primary-color-contrast)"
        strokeWidth={2.5}
        strokeLinecap="round"
        strokeLinejoin="round"
        d="m8 12 3 3 5-6"
      />
    </svg>
  );
}

/** Signs out with a fresh CSRF token, because the page may have been loaded in an earlier session. */
async function signOut(): Promise<void> {
  let token = document.querySelector<HTMLMetaElement>('meta[name="form-token"]')?.content ?? '';
  try {
    const response = await fetch('/', { cache: 'no-store' });
    if (new URL(response.url).pathname === '/sign-in') {
      location.assign('/sign-in');
      return;
    }
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    token = page.querySelector<HTMLMetaElement>('meta[name="form-token"]')?.content ?? token;
  } catch {
    // Offline: submitting the form shows the browser's own error page.
  }
  const field = Object.assign(document.createElement('input'), {
    type: 'hidden',
    name: '_csrf',
    value: token,
  });
  const form = Object.assign(document.createElement('form'), { method: 'post', action: '/sign-out' });
  form.append(field);
  // Browsers submit only forms in the document, and the menu with the button is no longer in it.
  document.body.append(form);
  form.submit();
}
