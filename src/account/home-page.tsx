import { administersOthers } from '../domain/people/people.ts';
import type { RegisterRoutes } from '../http/area-plugin.ts';
import { Page } from '../pages/layout.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';

/** What is here, and the ways on: for who signed in, and for who did not. */
export const registerHome: RegisterRoutes = (app) => {
  app.get(
    '/',
    { config: { operation: 'home-page', access: 'open' }, schema: { hide: true } },
    async (request, reply) => {
      const session = request.session?.state === 'complete' ? request.session : null;
      return sendPage(
        request,
        reply,
        <Page title="Security testing" wide>
          <section>
            <p>
              This is Assay, where customers of a security-testing programme organise their assessments:
              vulnerabilities, tags, assets and ports, testing hours and members. Programs do it through the
              API; people look after their accounts here.
            </p>
            {session === null ? (
              <p>
                <a class="button primary" href="/sign-in">
                  Sign in
                </a>
              </p>
            ) : (
              <p>
                <a class="button primary" href="/account">
                  Go to your account
                </a>
              </p>
            )}
            {session === null && (
              <p class="hint">
                New here? Open the link of your invitation; an admin of your organization makes one.
              </p>
            )}
          </section>
          <section>
            <h2>Use the API</h2>
            <ul class="ways">
              <li>
                <a href="/docs">Read and try it</a>
                <span class="hint">Every operation with its parameters, answers and errors</span>
              </li>
              <li>
                <a href="/account/tokens">Make a token</a>
                <span class="hint">For a script or another program that calls it in your name</span>
              </li>
              <li>
                <a href="/openapi.json">Download its description</a>
                <span class="hint">OpenAPI 3.1, to make a client from</span>
              </li>
            </ul>
          </section>
          {session !== null && administersOthers(session) && (
            <section>
              <h2>Look after people</h2>
              <ul class="ways">
                <li>
                  <a href="/account/people">People</a>
                  <span class="hint">
                    {session.staff ? 'Of the organizations that you look after' : 'Of your organization'}: who
                    they are, when they were seen, links for them, bans
                  </span>
                </li>
                <li>
                  <a href="/account/people/invite">Invite someone</a>
                </li>
              </ul>
            </section>
          )}
        </Page>,
      );
    },
  );
};
