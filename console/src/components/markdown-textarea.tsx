import { Progress, Stack, Text, Textarea, type TextareaProps } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import { nameScreenshot } from './screenshot-name.ts';
import { errorText } from './notifications.tsx';
import { submitOnCtrlEnter } from './submit-on-ctrl-enter.ts';

/** Keeps a picture and tells the address that Markdown has for it: `attachment:7`. */
export type UploadImage = (file: File, progress: (sent: number) => void) => Promise<string>;

export interface MarkdownTextareaProps extends Omit<TextareaProps, 'value' | 'onChange' | 'error'> {
  value: string;
  onChange: (change: (now: string) => string) => void;
  error?: string | undefined;
  /** Absent where nothing keeps pictures. */
  uploadImage?: UploadImage | undefined;
}

/**
 * A text into which screenshots are pasted and pictures dropped: each is uploaded, and stands where the cursor was.
 * Ctrl or Cmd with Enter sends its form.
 */
export function MarkdownTextarea({ value, onChange, uploadImage, error, ...others }: MarkdownTextareaProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [sent, setSent] = useState<number>();
  const [fault, setFault] = useState<string>();
  const take = async (files: readonly File[]) => {
    if (uploadImage === undefined) return;
    setFault(undefined);
    let at = area.current?.selectionEnd ?? value.length;
    for (const file of files)
      try {
        setSent(0);
        const address = await uploadImage(file, setSent);
        const name = file.name.replaceAll(/[[\]\\\r\n]/g, '') || 'screenshot';
        const written = `![${name}](${address})`;
        const place = at;
        onChange((now) => now.slice(0, place) + written + now.slice(place));
        at += written.length;
      } catch (thrown) {
        setFault(`${file.name}: ${errorText(thrown)}`);
      }
    setSent(undefined);
  };
  /** Whether there are pictures, which then are taken. */
  const takeFrom = (data: DataTransfer) => {
    const pictures = [...data.files].filter(({ type }) => type.startsWith('image/'));
    if (uploadImage === undefined || pictures.length === 0) return false;
    void take(pictures.map((file) => nameScreenshot(file)));
    return true;
  };
  return (
    <Stack gap={4}>
      <Textarea
        {...others}
        ref={area}
        autosize
        value={value}
        error={error ?? fault}
        onChange={(event) => {
          const text = event.currentTarget.value;
          onChange(() => text);
        }}
        onKeyDown={submitOnCtrlEnter}
        onPaste={(event) => {
          if (takeFrom(event.clipboardData)) event.preventDefault();
        }}
        onDragOver={(event: DragEvent) => {
          if (uploadImage !== undefined && event.dataTransfer.types.includes('Files')) event.preventDefault();
        }}
        onDrop={(event: DragEvent) => {
          if (takeFrom(event.dataTransfer)) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      />
      {sent !== undefined && (
        <div role="status">
          <Text size="xs" c="dimmed">
            Uploading the picture
          </Text>
          <Progress size="xs" value={100 * sent} aria-label="Uploading the picture" />
        </div>
      )}
    </Stack>
  );
}
