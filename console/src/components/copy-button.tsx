import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { notifyError } from './notifications.ts';
import { commonMessages } from './messages.ts';

/** Milliseconds for which the button shows "Copied". */
const COPIED_DURATION = 1_500;

interface CopyButtonProps {
  text: string;
  /** "Copy link". */
  label: string;
  /** How a button with the label looks; without it the button is an icon. */
  variant?: 'default' | 'subtle';
}

/** Copies a text to the clipboard. */
export function CopyButton({ text, label, variant }: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_DURATION);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () =>
    void copyText(text).then(
      () => setCopied(true),
      (error: unknown) => notifyError(commonMessages.copy.failed, error),
    );
  const icon = isCopied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />;
  const shownLabel = isCopied ? 'Copied' : label;
  if (variant !== undefined)
    return (
      <Button size="xs" variant={variant} color="gray" leftSection={icon} onClick={copy} aria-live="polite">
        {shownLabel}
      </Button>
    );
  return (
    <Tooltip label={shownLabel}>
      <ActionIcon
        size="sm"
        variant="subtle"
        color="gray"
        aria-label={shownLabel}
        onClick={copy}
        aria-live="polite"
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** Copies a text; over plain http browsers have no `navigator.clipboard`. */
async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('aria-hidden', 'true');
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error(commonMessages.copy.blocked);
}
