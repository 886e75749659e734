import { Type } from 'typebox';
import { verifyPasskeySignIn } from '../domain/sign-in/verify-passkey.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { changeContextOf } from '../http/browser-sessions.ts';
import { CONSOLE_HOME, signInPath } from '../page-kit/paths.ts';
import { Notice } from '../page-kit/forms.tsx';
import { Page } from '../page-kit/layout.tsx';
import { sendHtmlPage } from '../page-kit/pages-plugin.tsx';
import { CredentialSchema, takePasskeyResponse } from './passkey-endpoints.ts';
import { continueSignIn } from './sign-in-flow.ts';
import { MAX_RETURN_LENGTH } from './sign-in-page.tsx';
import { MESSAGES } from './messages.ts';

const PasskeySignInFormSchema = Type.Object({
  credential: CredentialSchema,
  to: Type.Optional(Type.String({ maxLength: MAX_RETURN_LENGTH })),
});

/** Signs in with a passkey alone, which counts as two factors: possession of the key, and verification of its user. */
export const registerPasskeySignIn: RouteRegistrar = (app, context) => {
  app.post(
    '/sign-in/passkey',
    {
      config: { operation: 'sign-in-with-passkey', access: 'open' },
      schema: { hide: true, body: PasskeySignInFormSchema },
    },
    async (request, reply) => {
      const { credential, to: returnTo } = request.body;
      const assertion = takePasskeyResponse(context, request, reply, 'sign-in', credential);
      const owner =
        assertion &&
        (await verifyPasskeySignIn(context, changeContextOf(request, context.clock()), assertion));
      if (owner !== undefined)
        return continueSignIn(
          context,
          request,
          reply,
          { ...owner, method: 'passkey', isMultiFactor: true },
          returnTo,
        );
      reply.header('www-authenticate', 'Form realm="assay"');
      return sendHtmlPage(
        request,
        reply,
        <Page title={MESSAGES.signIn.title}>
          {/* One message for all failures, so that the response does not reveal the reason. */}
          <Notice kind="error">{MESSAGES.passkeys.failed}</Notice>
          <div>
            <a class="button primary" href={signInPath(returnTo ?? CONSOLE_HOME)}>
              {MESSAGES.passkeys.back}
            </a>
          </div>
        </Page>,
        { status: 401 },
      );
    },
  );
};
