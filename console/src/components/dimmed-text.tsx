import { Text, type TextProps } from '@mantine/core';
import type { ComponentPropsWithoutRef } from 'react';

/** Secondary text: a hint, or the note that there is nothing. */
export function DimmedText(props: TextProps & Omit<ComponentPropsWithoutRef<'p'>, keyof TextProps>) {
  return <Text size="sm" c="dimmed" {...props} />;
}
