import { ActionIcon, Button } from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconX } from '@tabler/icons-react';
import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { type Notification, notifications } from '../components/notifications.ts';
import { appMessages } from './messages.ts';
import { useShortcuts } from './shortcuts.tsx';
import classes from './notification-list.module.css';

/** Milliseconds. */
const DURATION = 8_000;
/** Ten times as long, for those who need more time (WCAG 2.2, 2.2.1). */
const LONG_DURATION = 80_000;

/** Whether notifications stay longer in this browser. */
export const useLongNotifications = () =>
  useLocalStorage({ key: 'assay-long-notifications', defaultValue: false, getInitialValueInEffect: false });

/** The latest notifications, at the bottom of the page. */
export function NotificationList() {
  const shown = useSyncExternalStore(notifications.subscribe, notifications.get);
  const last = shown.findLast(({ undo }) => undo !== undefined);
  useShortcuts(
    last === undefined ? {} : { z: { label: appMessages.notifications.undoLast, run: () => takeBack(last) } },
  );
  const itemsOf = (isError: boolean) =>
    shown
      .filter((one) => (one.isError ?? false) === isError)
      .map((one) => <NotificationItem key={one.id} notification={one} />);
  return (
    <section className={classes.list} aria-label={appMessages.notifications.label}>
      {/* Both are there before their first message, else screen readers would miss it. */}
      <div role="alert">{itemsOf(true)}</div>
      <div role="status">{itemsOf(false)}</div>
    </section>
  );
}

function takeBack({ id, undo }: Notification): void {
  notifications.close(id);
  undo?.();
}

function NotificationItem({ notification }: { notification: Notification }) {
  const { id, title, message, isError = false, undo } = notification;
  const [isPaused, setPaused] = useState(false);
  const [isLong] = useLongNotifications();
  const focusedBefore = useRef<Element | null>(null);
  useEffect(() => {
    if (isError || isPaused) return undefined;
    const timer = setTimeout(() => notifications.close(id), isLong ? LONG_DURATION : DURATION);
    return () => clearTimeout(timer);
  }, [id, isError, isPaused, isLong]);
  const returnFocus = () => {
    if (focusedBefore.current instanceof HTMLElement) focusedBefore.current.focus({ preventScroll: true });
  };
  return (
    <div
      className={classes.item}
      data-error={isError || undefined}
      onMouseEnter={() => setPaused(true)}
      onMouseLeave={() => setPaused(false)}
      onFocus={({ currentTarget, relatedTarget }) => {
        setPaused(true);
        if (!currentTarget.contains(relatedTarget)) focusedBefore.current = relatedTarget;
      }}
      onBlur={() => setPaused(false)}
    >
      <div className={classes.text}>
        {title !== undefined && <strong>{title}</strong>}
        <span>{message}</span>
      </div>
      {undo !== undefined && (
        <Button
          size="xs"
          variant="subtle"
          flex="none"
          title={appMessages.notifications.undoHint}
          onClick={() => {
            returnFocus();
            takeBack(notification);
          }}
        >
          {appMessages.notifications.undo}
        </Button>
      )}
      <ActionIcon
        variant="subtle"
        color="gray"
        aria-label={appMessages.notifications.close}
        onClick={() => {
          returnFocus();
          notifications.close(id);
        }}
      >
        <IconX size={16} aria-hidden />
      </ActionIcon>
    </div>
  );
}
