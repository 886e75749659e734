import { Progress, Stack, Textarea, type TextareaProps } from '@mantine/core';
import { type DragEvent, useRef, useState } from 'react';
import type { OnUploadState, UploadState } from '../queries/upload.ts';
import { errorText } from './notifications.ts';
import { DimmedText } from './dimmed-text.tsx';
import { submitOnCtrlEnter } from './submit-on-ctrl-enter.ts';
import { commonMessages } from './messages.ts';
import { markdownMessages } from './markdown-messages.ts';

/** Uploads an image and returns its URL in Markdown: `attachment:7`. */
export type UploadImage = (file: File, onState: OnUploadState) => Promise<string>;

export interface MarkdownTextareaProps extends Omit<TextareaProps, 'value' | 'onChange' | 'error'> {
  value: string;
  onChange: (change: (previous: string) => string) => void;
  error?: string | undefined;
  /** If absent, images cannot be pasted. */
  uploadImage?: UploadImage | undefined;
}

/**
 * A text area that uploads pasted and dropped images and inserts them at the cursor. Ctrl or Cmd with Enter submits its
 * form.
 */
export function MarkdownTextarea({ value, onChange, uploadImage, error, ...props }: MarkdownTextareaProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const [progress, setProgress] = useState<UploadState>();
  const [uploadError, setUploadError] = useState<string>();
  const upload = async (files: readonly File[]) => {
    if (uploadImage === undefined) return;
    setUploadError(undefined);
    let insertAt = area.current?.selectionEnd ?? value.length;
    for (const file of files)
      try {
        setProgress(0);
        const address = await uploadImage(file, setProgress);
        const name = file.name.replaceAll(/[[\]\\\r\n]/g, '') || 'screenshot';
        const markdown = `![${name}](${address})`;
        const position = insertAt;
        onChange((previous) => previous.slice(0, position) + markdown + previous.slice(position));
        insertAt += markdown.length;
      } catch (thrown) {
        setUploadError(`${file.name}: ${errorText(thrown)}`);
      }
    setProgress(undefined);
  };
  /** @returns whether there are images, which are then uploaded */
  const uploadFrom = (data: DataTransfer) => {
    const images = [...data.files].filter(({ type }) => type.startsWith('image/'));
    if (uploadImage === undefined || images.length === 0) return false;
    void upload(images.map(nameScreenshot));
    return true;
  };
  return (
    <Stack gap={4}>
      <Textarea
        {...props}
        ref={area}
        autosize
        value={value}
        error={error ?? uploadError}
        onChange={(event) => {
          const text = event.currentTarget.value;
          onChange(() => text);
        }}
        onKeyDown={submitOnCtrlEnter}
        onPaste={(event) => {
          if (uploadFrom(event.clipboardData)) event.preventDefault();
        }}
        onDragOver={(event: DragEvent) => {
          if (uploadImage !== undefined && event.dataTransfer.types.includes('Files')) event.preventDefault();
        }}
        onDrop={(event: DragEvent) => {
          if (uploadFrom(event.dataTransfer)) {
            event.preventDefault();
            event.stopPropagation();
          }
        }}
      />
      {progress !== undefined && (
        <div role="status">
          <DimmedText size="xs">
            {progress === 'waiting' ? commonMessages.uploadWaiting : markdownMessages.uploadingImage}
          </DimmedText>
          <Progress
            size="xs"
            value={progress === 'waiting' ? 0 : 100 * progress}
            aria-label={markdownMessages.uploadingImage}
          />
        </div>
      )}
    </Stack>
  );
}

/** Gives a screenshot a unique name; browsers call every one `image.png`. */
function nameScreenshot(file: File): File {
  if (!/^image\.\w+$/.test(file.name)) return file;
  const timestamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/g, '').replace('T', '-');
  return new File([file], `screenshot-${timestamp}.${file.name.split('.').at(-1)}`, { type: file.type });
}
