import { Menu, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { IconSelector } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { OrganizationMark } from '../components/identity-marks.tsx';
import { organizationsQuery } from '../queries/organizations.ts';
import { selectOrganization, useSelectedOrganization } from '../session/selected-organization.ts';
import { Logo } from './logo.tsx';
import { appMessages } from './messages.ts';
import { organizationSearch, useCurrentNavItem } from './nav-items.ts';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.tsx';

/** Organizations in the menu, from which a search field leads to the others. */
const MAX_SHOWN = 8;

/** Chooses the organization that a member of staff works for, or all. */
export function OrganizationMenu() {
  const [isOpen, { set: setOpen, open }] = useDisclosure();
  const [text, setText] = useState('');
  const { data: organizations = [] } = useQuery(organizationsQuery);
  const selected = useSelectedOrganization();
  const navigate = useNavigate();
  const { item, isTopLevel } = useCurrentNavItem();
  useShortcuts({ 'g o': { label: appMessages.chooseOrganization, run: open } });
  const organization = organizations.find(({ uid }) => uid === selected);
  const matching = organizations.filter(({ name, uid }) =>
    `${name} ${uid}`.toLowerCase().includes(text.toLowerCase()),
  );
  const choose = (uid: string) => {
    const next = uid === '' ? undefined : uid;
    selectOrganization(next);
    setText('');
    // The filter of the list on screen. Pages of one object stay as they are.
    if (item !== undefined && isTopLevel)
      void navigate({ to: item.to, search: organizationSearch(item, next) });
  };
  return (
    <Menu position="bottom-start" width={232} opened={isOpen} onChange={setOpen}>
      <Menu.Target>
        <UnstyledButton className={classes.organization} title={`${appMessages.chooseOrganization} (g o)`}>
          <span className={classes.mark} aria-hidden>
            {organization === undefined ? (
              <Logo size={22} />
            ) : (
              <OrganizationMark organization={organization} />
            )}
          </span>
          <span className={classes.name}>{organization?.name ?? appMessages.allOrganizations}</span>
          <IconSelector size={16} stroke={1.75} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        {organizations.length > MAX_SHOWN && (
          <Menu.Search
            placeholder={appMessages.findOrganization}
            aria-label={appMessages.findOrganization}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
        )}
        <Menu.RadioGroup value={selected ?? ''} onChange={choose}>
          <Menu.RadioItem value="" closeMenuOnClick>
            {appMessages.allOrganizations}
          </Menu.RadioItem>
          {matching.slice(0, MAX_SHOWN).map((one) => (
            <Menu.RadioItem key={one.uid} value={one.uid} closeMenuOnClick>
              <OrganizationMark organization={one} size="sm" withLabel />
            </Menu.RadioItem>
          ))}
        </Menu.RadioGroup>
      </Menu.Dropdown>
    </Menu>
  );
}
