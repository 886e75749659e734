import type { ComponentChildren } from 'preact';
import { Page } from '../page-kit/layout.tsx';
import { MESSAGES } from './messages.ts';

/** Characters. */
export const MAX_LINK_TOKEN_LENGTH = 200;

export const LINK_SCRIPTS = ['clean-address.js'] as const;

/** The page for an invalid link. It does not say why the link is invalid. */
export function InvalidLink({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <Page title={title} scripts={LINK_SCRIPTS}>
      {children}
      <p>
        <a href="/sign-in">{MESSAGES.link.signIn}</a>
      </p>
    </Page>
  );
}
