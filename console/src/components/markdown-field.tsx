import { Button, Group, Input, Loader, Text } from '@mantine/core';
import { lazy, Suspense, useId, useState } from 'react';
import classes from './markdown-field.module.css';
import { MarkdownTextarea, type MarkdownTextareaProps } from './markdown-textarea.tsx';

const MarkdownText = lazy(() => import('./markdown.tsx'));

interface MarkdownFieldProps extends MarkdownTextareaProps {
  label: string;
  /** The vulnerability whose attachments the text shows. */
  vulnerability?: number | undefined;
}

/** A text in Markdown, to write and to look at. */
export function MarkdownField({
  label,
  vulnerability,
  description,
  value,
  minRows = 4,
  ...others
}: MarkdownFieldProps) {
  const [preview, setPreview] = useState(false);
  const id = useId();
  const hint = others.uploadImage === undefined ? 'Markdown.' : 'Markdown. Paste or drop a screenshot.';
  return (
    <div>
      <Group justify="space-between" gap="xs" mb={2}>
        <Input.Label htmlFor={id} id={`${id}-label`}>
          {label}
        </Input.Label>
        <Group gap="xs">
          <Text size="xs" c="dimmed" id={`${id}-hint`}>
            {description ?? hint}
          </Text>
          <Button
            size="compact-xs"
            variant="default"
            aria-label={`${preview ? 'Write' : 'Preview of'} ${label.toLowerCase()}`}
            onClick={() => setPreview(!preview)}
          >
            {preview ? 'Write' : 'Preview'}
          </Button>
        </Group>
      </Group>
      {preview ? (
        <section className={classes.preview} aria-labelledby={`${id}-label`}>
          {value.trim() === '' ? (
            <Text size="sm" c="dimmed">
              Nothing is written.
            </Text>
          ) : (
            <Suspense fallback={<Loader size="sm" />}>
              <MarkdownText {...(vulnerability === undefined ? {} : { vulnerability })}>{value}</MarkdownText>
            </Suspense>
          )}
        </section>
      ) : (
        <MarkdownTextarea
          id={id}
          aria-describedby={`${id}-hint`}
          minRows={minRows}
          maxRows={24}
          value={value}
          {...others}
        />
      )}
    </div>
  );
}
