"""The tool `search_resource`: names in any language, and catalogues that are not as they should be."""

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opspilot.tools.builtin.catalog.entities import read_catalog
from opspilot.tools.spec import Tool, ToolError
from tests.tools.builtin.calls import BuildTool, CallTool

CATALOG = """\
# what there is
apiVersion: backstage.io/v1alpha1
kind: Component
metadata:
  name: payment
  title: Payment service / 支付服务
  description: Takes money.
  tags: [checkout]
  annotations:
    shop.example/aliases: pay, 付款
spec:
  type: service
  lifecycle: production
  owner: group:team-payments
  system: shop
  dependsOn: [resource:payment-db]
---
apiVersion: backstage.io/v1alpha1
kind: Resource
metadata: {name: payment-db, title: Payment database, description: PostgreSQL}
spec: {type: database, owner: team-payments}
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: orders, title: Order service / 订单服务}
spec: {type: service, owner: team-orders, dependsOn: [component:payment]}
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: {name: team-payments}
spec: {type: team, profile: {displayName: Payments team}}
"""


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "catalog-info.yaml").write_text(CATALOG, encoding="utf-8")
    return folder


@pytest.fixture
def tool(build_tool: BuildTool, catalog: Path) -> Tool:
    return build_tool("search_resource", path="catalog")


def test_a_service_comes_with_what_is_known_of_it(tool: Tool, run_tool: CallTool) -> None:
    assert run_tool(tool, {"query": "支付服务", "limit": 1})["resources"] == [
        {
            "kind": "Component",
            "name": "payment",
            "title": "Payment service / 支付服务",
            "description": "Takes money.",
            "type": "service",
            "lifecycle": "production",
            "owner": "group:team-payments",
            "system": "shop",
            "tags": ["checkout"],
            "aliases": ["pay", "付款"],
            "dependsOn": ["resource:payment-db"],
            "annotations": {"shop.example/aliases": "pay, 付款"},
            "file": "catalog-info.yaml",
            "line": 2,
        }
    ]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("payment", ["payment", "payment-db", "team-payments"]),
        ("Payment Service", ["payment", "payment-db", "team-payments"]),
        ("component:default/payment", ["payment"]),
        ("支付", ["payment"]),
        ("付款", ["payment"]),
        ("看看支付服务最近报错", ["payment"]),
        ("Look at the payment service's recent errors", ["payment"]),
        ("订单服务和支付服务", ["payment", "orders"]),
        ("checkout", ["payment"]),
        ("team-orders", ["orders"]),
        ("group", ["team-payments"]),
        ("Payments team", ["team-payments"]),
        ("database", ["payment-db"]),
        ("postgresql", ["payment-db"]),
        ("shop", ["payment"]),
    ],
)
def test_things_are_found_by_whatever_they_are_called(
    tool: Tool, run_tool: CallTool, query: str, names: list[str]
) -> None:
    assert [row["name"] for row in run_tool(tool, {"query": query})["resources"]] == names


def test_a_kind_narrows_the_search(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "payment", "kind": "resource"})
    assert [row["name"] for row in result["resources"]] == ["payment-db"]


def test_without_a_query_everything_is_listed(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"limit": 2})
    assert (result["found"], len(result["resources"])) == (4, 2)
    assert result["names"][0] == "component:default/payment"


def test_what_is_not_there_is_answered_with_what_was_perhaps_meant(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "paymnet"})
    assert result["resources"] == []
    assert result["did_you_mean"][0]["name"] == "payment"
    assert "component:default/orders" in result["names"]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("kind: [oops\n", "bad.yaml line 2: the document from line 2 is not YAML"),
        (
            "apiVersion: backstage.io/v1alpha1\nkind: Component\nspec: {}\n",
            "line 2: the Component has no metadata.name",
        ),
        ("apiVersion: backstage.io/v1alpha1\nmetadata: {name: x}\n", "line 2: the document has no kind"),
        ("kind: Component\nmetadata: {name: !!int ''}\n", "the document from line 2 is not YAML"),
        ("a: &a [x, x]\nb: *c\n", "line 3: the document from line 2 is not YAML: found undefined alias"),
    ],
)
def test_a_malformed_document_takes_no_other_with_it(
    tool: Tool, run_tool: CallTool, catalog: Path, document: str, problem: str
) -> None:
    good = "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: %s}\n"
    (catalog / "bad.yaml").write_text("---\n" + document + "---\n" + good % "after")
    (catalog / "first.yml").write_text(good % "elsewhere")
    result = run_tool(tool, {"limit": 30})
    assert {row["name"] for row in result["resources"]} >= {"payment", "orders", "after", "elsewhere"}
    assert problem in result["problems"][0]
    assert len(result["problems"]) == 1


def test_other_yaml_beside_the_catalogue_is_no_problem(tool: Tool, run_tool: CallTool, catalog: Path) -> None:
    (catalog / "deploy.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n")
    (catalog / "list.yaml").write_text("- a\n- b\n")
    result = run_tool(tool)
    assert (result["found"], result.get("problems")) == (4, None)


def test_a_catalogue_that_changes_is_read_again(tool: Tool, run_tool: CallTool, catalog: Path) -> None:
    assert run_tool(tool)["found"] == 4
    (catalog / "catalog-info.yaml").write_text(CATALOG.partition("---")[0], encoding="utf-8")
    assert run_tool(tool)["found"] == 1


def test_aliases_that_multiply_are_shared_and_harmless(tool: Tool, run_tool: CallTool, catalog: Path) -> None:
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))
    (catalog / "bomb.yaml").write_text(
        bomb + "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: bomb, tags: *a11}\n"
    )
    assert run_tool(tool, {"query": "bomb"})["resources"][0]["name"] == "bomb"


def test_a_file_that_can_not_be_read_is_said(tool: Tool, run_tool: CallTool, catalog: Path) -> None:
    (catalog / "gone.yaml").symlink_to("nowhere")
    result = run_tool(tool)
    assert (result["found"], result["problems"]) == (4, ["gone.yaml can't be read: No such file or directory"])


def test_links_are_followed_inside_the_folder_and_nowhere_else(
    build_tool: BuildTool, run_tool: CallTool, catalog: Path
) -> None:
    """What is configured may itself be a link, a file as well as a folder."""
    outside = catalog.parent / "outside.yaml"
    outside.write_text(SYSTEM % "secret")
    (catalog / "out.yaml").symlink_to(outside)
    (catalog / "again.yaml").symlink_to(next(catalog.glob("*.yaml")).name)
    (catalog.parent / "linked").symlink_to(catalog)
    (catalog.parent / "sub").mkdir()
    (catalog.parent / "sub" / "linked.yaml").symlink_to(outside)
    for folder in (catalog.name, "linked"):
        result = run_tool(build_tool("search_resource", path=folder), {"query": "secret"})
        assert "secret" not in [row["name"] for row in result["resources"]]
        assert "out.yaml can't be read: it is a link that leads out of the folder" in result["problems"]
        assert not any("again.yaml can't be read" in problem for problem in result["problems"])
    result = run_tool(build_tool("search_resource", path="sub/linked.yaml"))
    assert [row["name"] for row in result["resources"]] == ["secret"]


def test_a_pipe_is_said_and_never_waited_for(tool: Tool, run_tool: CallTool, catalog: Path) -> None:
    os.mkfifo(catalog / "pipe.yaml")
    result = run_tool(tool)
    assert (result["found"], result["problems"]) == (4, ["pipe.yaml can't be read: it is not a regular file"])


def test_a_path_that_is_not_there_is_named_with_its_setting(build_tool: BuildTool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"nowhere does not exist\. It is the setting path"):
        run_tool(build_tool("search_resource", path="nowhere"))


def test_lines_count_from_the_documents_first_line_with_content() -> None:
    file = read_catalog(
        "\n# c\n\nkind: System\nmetadata: {name: a}\n---\n---\n\nkind: System\nmetadata: {name: b}\n", "f"
    )
    assert [(entity.name, entity.line) for entity in file.entities] == [("a", 4), ("b", 9)]


@given(st.text(alphabet="ab:-[]{}&*!|>#'\" \n\t0é", max_size=200))
def test_no_catalogue_is_too_strange(text: str) -> None:
    file = read_catalog(text + "\n---\nkind: System\nmetadata: {name: last}\n", "f")
    assert file.entities or file.problems
    assert all(entity.line >= 1 for entity in file.entities)


PLATFORM = """\
apiVersion: backstage.io/v1alpha1
kind: Domain
metadata: {name: selling}
spec: {owner: board}
---
apiVersion: backstage.io/v1alpha1
kind: System
metadata: {name: shop}
spec: {owner: team-orders, domain: selling}
---
apiVersion: backstage.io/v1alpha1
kind: API
metadata: {name: payment-api}
spec: {type: openapi, owner: team-payments, system: shop}
---
apiVersion: backstage.io/v1alpha1
kind: Component
metadata: {name: till}
spec:
  {type: service, owner: 'user:anna', system: shop, dependsOn: ['component:payment', 'resource:nowhere'],
   consumesApis: [payment-api]}
---
apiVersion: backstage.io/v1alpha1
kind: Group
metadata: {name: board}
spec: {type: team, children: [team-payments], members: [anna]}
---
apiVersion: backstage.io/v1alpha1
kind: User
metadata: {name: anna}
spec: {memberOf: [team-payments], profile: {displayName: Anna A.}}
"""


@pytest.fixture
def platform(catalog: Path) -> Path:
    (catalog / "platform.yaml").write_text(PLATFORM)
    return catalog


def related(result: Any) -> set[tuple[str, str]]:
    return {(row["relation"], row.get("name", row.get("ref"))) for row in result["related"]}


def test_who_owns_what_a_service_depends_on_is_one_question(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "payment", "relation": "dependsOn"})
    assert result["related"] == [
        {
            "relation": "dependsOn",
            "kind": "Resource",
            "name": "payment-db",
            "title": "Payment database",
            "type": "database",
            "owner": "team-payments",
            "owner_title": "Payments team",
            "file": "catalog-info.yaml",
            "line": 18,
        }
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "payment",
            {
                *(("dependsOn", "payment-db"), ("dependencyOf", "orders"), ("dependencyOf", "till")),
                *(("ownedBy", "team-payments"), ("partOf", "shop")),
            },
        ),
        (
            "till",
            {
                *(("dependsOn", "payment"), ("dependsOn", "resource:default/nowhere"), ("ownedBy", "anna")),
                *(("partOf", "shop"), ("consumesApi", "payment-api")),
            },
        ),
        ("selling", {("ownedBy", "board"), ("hasPart", "shop")}),
        ("board", {("ownerOf", "selling"), ("parentOf", "team-payments"), ("hasMember", "anna")}),
        ("anna", {("memberOf", "board"), ("memberOf", "team-payments"), ("ownerOf", "till")}),
        ("payment-api", {("ownedBy", "team-payments"), ("partOf", "shop"), ("apiConsumedBy", "till")}),
    ],
)
@pytest.mark.usefixtures("platform")
def test_relations_are_followed_both_ways(
    tool: Tool, run_tool: CallTool, query: str, expected: set[tuple[str, str]]
) -> None:
    assert related(run_tool(tool, {"query": query, "limit": 1})) == expected


@pytest.mark.usefixtures("platform")
def test_relations_are_followed_as_deep_as_asked(tool: Tool, run_tool: CallTool) -> None:
    result = run_tool(tool, {"query": "till", "relation": "dependsOn", "depth": 3})
    steps = {row.get("name", row.get("ref")): (row["of"], row["steps"]) for row in result["related"]}
    assert steps == {"payment": ("till", 1), "resource:default/nowhere": ("till", 1), "payment-db": ("payment", 2)}
    assert result["related"][1]["note"] == "the catalogue names it but does not hold it"


def test_a_circle_of_dependencies_ends(tool: Tool, run_tool: CallTool, catalog: Path) -> None:
    one = "apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata: {name: %s}\nspec: {dependsOn: [%s]}\n"
    circle = [("red", "component:blue"), ("blue", "component:green"), ("green", "component:red")]
    (catalog / "circle.yaml").write_text("---\n".join(one % names for names in circle))
    result = run_tool(tool, {"query": "red", "relation": "dependsOn", "depth": 4})
    assert [row["name"] for row in result["related"]] == ["blue", "green"]


@pytest.mark.parametrize(
    ("word", "name"), [("depends_on", "payment-db"), ("dependencies", "payment-db"), ("dependents", "orders")]
)
def test_a_relation_may_be_called_as_people_do(tool: Tool, run_tool: CallTool, word: str, name: str) -> None:
    assert run_tool(tool, {"query": "payment", "relation": word})["related"][0]["name"] == name


def test_a_relation_or_kind_that_there_is_not_is_answered_with_those_there_are(tool: Tool, run_tool: CallTool) -> None:
    with pytest.raises(ToolError, match=r"no relation 'cousin'; there are dependsOn, dependencyOf, ownedBy"):
        run_tool(tool, {"query": "payment", "relation": "cousin"})
    assert run_tool(tool, {"kind": "planet"})["notes"] == [
        "The catalogue has nothing of the kind 'planet'; its kinds are Component, Group, Resource."
    ]
    assert run_tool(tool, {"kind": "team"})["found"] == 1


def test_a_name_that_is_nearly_right_is_answered_with_a_question(tool: Tool, run_tool: CallTool) -> None:
    assert run_tool(tool, {"query": "paymnet"})["notes"][0].startswith(
        "Nothing in the catalogue fits 'paymnet'. Did you mean 'payment'"
    )


LOCATION = "apiVersion: backstage.io/v1alpha1\nkind: Location\nmetadata: {name: more}\nspec: {targets: [%s]}\n"
SYSTEM = "apiVersion: backstage.io/v1alpha1\nkind: System\nmetadata: {name: %s}\n"


def test_files_that_a_location_names_are_read_when_they_lie_in_the_folder(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path
) -> None:
    folder = tmp_path / "one"
    (folder / "parts").mkdir(parents=True)
    (folder / "all.yaml").write_text(LOCATION % "./parts/a.yaml, 'parts/b*.yaml', all.yaml")
    for name in ("a", "b1", "b2", "c"):
        (folder / "parts" / f"{name}.yaml").write_text(SYSTEM % name)
    result = run_tool(build_tool("search_resource", path="one/all.yaml"), {"kind": "system"})
    assert [row["name"] for row in result["resources"]] == ["a", "b1", "b2"]
    assert "problems" not in result


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("../secret.yaml", "lies outside the folder and was not read"),
        ("/etc/hosts.yaml", "lies outside the folder and was not read"),
        ("link.yaml", "lies outside the folder and was not read"),
        ("'../*.yaml'", "lies outside the folder and was not read"),
        ("https://example.com/x.yaml", "is an address; only files in the folder are read"),
        ("gone.yaml", "is not there"),
    ],
)
def test_a_location_leads_nowhere_else(
    build_tool: BuildTool, run_tool: CallTool, tmp_path: Path, target: str, problem: str
) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (tmp_path / "secret.yaml").write_text(SYSTEM % "secret")
    (folder / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (folder / "all.yaml").write_text(LOCATION % target)
    result = run_tool(build_tool("search_resource", path="one/all.yaml"), {"limit": 30})
    assert [row["name"] for row in result["resources"]] == ["more"]
    assert problem in result["problems"][0]
    assert result["problems"][0].startswith("all.yaml line 1: the target ")
