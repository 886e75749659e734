import {
  type MantineColorScheme,
  Menu,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useDensity } from '../components/density.ts';
import { PersonMark } from '../components/identity-marks.tsx';
import { personName } from '../queries/people.ts';
import { currentUserQuery } from '../session/permissions.ts';
import { appMessages } from './messages.ts';
import { useLongNotifications } from './notification-list.tsx';
import { useShortcutsControl } from './shortcuts.tsx';
import classes from './shell.module.css';

const COLOR_SCHEMES: readonly MantineColorScheme[] = ['auto', 'light', 'dark'];

/** The signed-in user, with a menu of their account and of this browser's settings. */
export function AccountMenu({
  isCompact = false,
}: {
  /** Whether to show the mark alone. */ isCompact?: boolean;
}) {
  const { data: user } = useQuery(currentUserQuery);
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const { areOn, setAreOn, showHelp } = useShortcutsControl();
  const [isLong, setLong] = useLongNotifications();
  const [density, setDensity] = useDensity();
  return (
    <Menu position={isCompact ? 'bottom-end' : 'top-start'} width={232}>
      <Menu.Target>
        <UnstyledButton className={classes.account}>
          <VisuallyHidden>{appMessages.account}</VisuallyHidden>
          <span className={classes.mark} aria-hidden>
            {user !== undefined && <PersonMark person={user} />}
          </span>
          {user !== undefined && !isCompact && (
            <>
              <span className={classes.name}>{personName(user)}</span>
              <span className={classes.count}>
                {user.staff ? appMessages.staff : user.admin === true ? appMessages.admin : ''}
              </span>
            </>
          )}
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label className={classes.email}>{user?.email}</Menu.Label>
        <Menu.Item component="a" href="/account">
          {appMessages.accountPages}
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          {appMessages.apiReference}
        </Menu.Item>
        <Menu.Divider />
        <Menu.Label>{appMessages.theme}</Menu.Label>
        <Menu.RadioGroup
          value={colorScheme}
          onChange={(scheme) => setColorScheme(scheme as MantineColorScheme)}
        >
          {COLOR_SCHEMES.map((scheme) => (
            <Menu.RadioItem key={scheme} value={scheme}>
              {appMessages.themes[scheme]}
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
        <Menu.Divider />
        <Menu.CheckboxItem
          checked={density === 'compact'}
          onChange={(isCompactList) => setDensity(isCompactList ? 'compact' : 'comfortable')}
        >
          {appMessages.compactLists}
        </Menu.CheckboxItem>
        <Menu.Item onClick={showHelp}>{appMessages.shortcuts.title}</Menu.Item>
        <Menu.CheckboxItem checked={areOn} onChange={setAreOn}>
          {appMessages.shortcuts.singleKeys}
        </Menu.CheckboxItem>
        <Menu.CheckboxItem checked={isLong} onChange={setLong}>
          {appMessages.notifications.longer}
        </Menu.CheckboxItem>
        <Menu.Divider />
        <Menu.Item onClick={() => void signOut()}>{appMessages.signOut}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
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
