import { ActionIcon, Button, Tooltip } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { useEffect, useState } from 'react';
import { notifyError } from './notifications.tsx';

/** How long the button says that it was done, in milliseconds. */
const COPIED_DURATION = 1_500;

interface CopyButtonProps {
  text: string;
  /** What is copied, as the button is called: "Copy the link". */
  label: string;
  /** Whether the words stand on the button; else an icon alone. */
  withLabel?: boolean;
}

/** Puts a text on the clipboard. */
export function CopyButton({ text, label, withLabel = false }: CopyButtonProps) {
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return undefined;
    const timer = setTimeout(() => setDone(false), COPIED_DURATION);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = () =>
    void copyText(text).then(
      () => setDone(true),
      (error: unknown) => notifyError('It could not be copied', error),
    );
  const icon = done ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />;
  const said = done ? 'Copied' : label;
  if (withLabel)
    return (
      <Button size="compact-sm" variant="default" leftSection={icon} onClick={copy} aria-live="polite">
        {said}
      </Button>
    );
  return (
    <Tooltip label={said}>
      <ActionIcon size="sm" variant="subtle" color="gray" aria-label={said} onClick={copy} aria-live="polite">
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

/** Over plain http a browser has no `navigator.clipboard`. */
async function copyText(text: string): Promise<void> {
  if ('clipboard' in navigator) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.setAttribute('aria-hidden', 'true');
  document.body.append(area);
  area.select();
  const copied = document.execCommand('copy');
  area.remove();
  if (!copied) throw new Error('This browser does not let the page copy. Select the text and copy it.');
}
