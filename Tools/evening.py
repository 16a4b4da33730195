"""The notes and pictures shown in the screenshots."""

# The age in days and the time, the tags and the text. Optional: `pinned`, `archived`, `pictures` and `files`.
NOTES = [
    {
        "when": (0, "19:42"), "tags": ["Garden"], "pictures": ["bed.jpg"],
        "text": "The bed by the wall\n\nTurned it over this afternoon, down to the old bricks. Garlic in before the frost: two rows, a "
        "hand apart. Broad beans behind it if there is room.\n\nBorrow the long rake from Nils. The catalogue is at "
        "https://seeds.example.org/winter, order until 2 December 2026.\n\n- garlic, 20 cloves\n- broad beans\n- straw to cover\n",
    },
    {
        "when": (0, "18:20"), "tags": ["Kitchen"], "pinned": True, "pictures": ["loaf.jpg"],
        "text": "Bread for Sunday\n\nRye 300 g, wheat 200 g, water 380 g, salt 10 g, a spoon of honey. The starter wants feeding on Saturday "
        "noon.\n\nFold four times, an hour apart. Overnight in the cold, then 250° with steam for 20 minutes and 210° for another 25.\n\n"
        "Last time: too dark at the bottom. Put the tray one rail higher.\n",
    },
    {
        "when": (0, "17:05"), "tags": ["Reading"],
        "text": "Sappho, fragment 104a\n\nHesperus, bringing all that the shining dawn has scattered,\nyou bring the sheep, you bring the "
        "goat,\nyou bring the child home to its mother.\n",
    },
    {
        "when": (1, "21:30"), "tags": ["Travel", "Lisbon"], "pictures": ["coast.jpg"], "files": ["tickets.pdf"],
        "text": "Lisbon in March\n\nNight train to Hendaye, then two short days along the coast. Ana has the flat in Graça from 14 March 2027; "
        "the key is with her neighbour (ana@example.com).\n\nSee again: the tile museum, the ferry at dusk.\n",
    },
    {
        "when": (1, "19:10"), "tags": ["Kitchen"],
        "text": "Market\n\nLeeks, celeriac, two quinces\nParsley, if it looks fresh\nThe good butter\nOats\n",
    },
    {
        "when": (1, "08:15"), "tags": ["Work"],
        "text": "Talk on clocks that agree\n\nBegin with the two watches, not with the formula. Leave the proof for questions. Twenty minutes, "
        "so three pictures at most.\n\nRehearse with Mira on 25 November 2026.\n",
    },
    {
        "when": (2, "22:05"), "tags": [],
        "text": "What I want to remember of today\n\nFog until noon. The heron stood in the canal as if somebody had left it there. M. "
        "laughed at the word “provisional” until she had to sit down.\n",
    },
    {
        "when": (2, "20:40"), "tags": ["House"], "pictures": ["shelf.png"],
        "text": "Shelf for the alcove\n\nWidth 843 mm, wider by 4 at the back. Five boards of oak, 22 mm. Measure the skirting before cutting.\n",
    },
    {
        "when": (3, "19:25"), "tags": ["Reading"],
        "text": "To read this winter\n\n- Tove Jansson, The Summer Book (again)\n- Lem, The Cyberiad\n- Solnit, A Field Guide to Getting Lost\n"
        "- that long essay on tides, in the blue folder\n",
    },
    {
        "when": (4, "18:55"), "tags": ["Music"],
        "text": "Choir\n\nDuruflé from bar 41, without the score. Breathe before “et lux”. Concert on 12 December 2026, St. Nikolai, "
        "seven o'clock; be there at five.\n",
    },
    {
        "when": (5, "21:12"), "tags": ["Letters"],
        "text": "Draft to Joanna\n\nDear Joanna, your parcel came on the one evening it rained, so the paper smelled of the wet hall when I "
        "opened it. I have read the first story twice.\n",
    },
    {
        "when": (6, "20:03"), "tags": ["Reading"],
        "text": "שיר לשעת ערב\n\nהערב יורד על הגן, והאור האחרון נשאר על הקיר. אני כותב מילה אחת ומוחק שתיים.\n",
    },
    {
        "when": (7, "19:48"), "tags": ["House"],
        "text": "Heating\n\nThe valve in the bath sticks: open it fully, then back a quarter turn. Chimney sweep comes on 30 November 2026.\n",
    },
    {
        "when": (9, "22:31"), "tags": [],
        "text": "A dream about the station\n\nAll the clocks showed different times, and everybody was on time.\n",
    },
    {
        "when": (11, "18:30"), "tags": ["Kitchen"],
        "text": "Quince jelly\n\nTwo kilos of fruit, wash off the down, cook soft with the peel. Strain overnight and do not press it. "
        "Three quarters sugar, juice of a lemon.\n\nSix small glasses last year.\n",
    },
    {
        "when": (13, "20:20"), "tags": ["Travel"],
        "text": "What to pack next time\n\nFewer books. The grey scarf. An adapter, after all.\n",
    },
    {
        "when": (16, "21:44"), "tags": ["Music"],
        "text": "Tuning the old piano\n\nHold on until the heating has been on for a fortnight. Herr Baum, 030 5550 1234, afternoons.\n",
    },
    {
        "when": (20, "19:02"), "tags": ["Garden"],
        "text": "Apples\n\nGravensteiner 31 kg, Boskoop 54 kg. The Boskoop keep until February if nobody bumps them.\n",
    },
    {
        "when": (24, "20:15"), "tags": ["Work"],
        "text": "Questions for Thursday\n\nWho decides about the room? What happens with the old machines? When do we say it aloud?\n",
    },
    {"when": (31, "18:45"), "tags": ["Letters"], "text": "Thank-you notes\n\nUncle Per, the Ostrowskis, the woman at the library.\n"},
    {"when": (40, "21:05"), "tags": ["House"], "archived": True, "text": "Meter readings\n\nElectricity 48213, water 1107.4\n"},
    {"when": (52, "19:30"), "tags": ["Travel"], "archived": True, "text": "Gotland, what it cost\n\nFerry 140, house 620, bicycles 90.\n"},
]  # fmt: skip

SKY = (
    '<linearGradient id="sky" x2="0" y2="1"><stop stop-color="#23264f"/><stop offset=".55" stop-color="#b0647a"/>'
    '<stop offset="1" stop-color="#f3b562"/></linearGradient>'
)
# SVG drawings, rendered by the browser: name, size and content.
PICTURES = {
    "coast.jpg": (1600, 1060, f'<defs>{SKY}</defs><rect width="1600" height="720" fill="url(#sky)"/>'
        '<circle cx="1150" cy="300" r="9" fill="#fff6dd"/><circle cx="420" cy="690" r="95" fill="#ffd98c"/>'
        '<path d="M0 690 Q400 665 800 690 T1600 690 V1060 H0Z" fill="#3b3f6e"/>'
        '<path d="M0 760 Q500 735 900 770 T1600 750 V1060 H0Z" fill="#2b2e57"/>'
        '<path d="M260 700 h330 l-60 34 h-210Z" fill="#ffd98c" opacity=".35"/>'
        '<path d="M1600 560 L1330 600 L1220 660 L1130 690 L1060 1060 H1600Z" fill="#191a38"/>'
        '<path d="M1290 590 v-90 h26 v84Z" fill="#191a38"/><circle cx="1303" cy="494" r="10" fill="#ffe2a0"/>'),
    "loaf.jpg": (1200, 900, '<defs><radialGradient id="crust" cx=".4" cy=".3"><stop stop-color="#d9a05c"/><stop offset=".6" stop-color="#a9672c"/>'
        '<stop offset="1" stop-color="#6a3a16"/></radialGradient></defs><rect width="1200" height="900" fill="#e9e0cf"/>'
        '<path d="M0 640 H1200 V900 H0Z" fill="#cdbb9b"/><ellipse cx="600" cy="690" rx="430" ry="60" fill="#8a7a5c" opacity=".5"/>'
        '<path d="M170 610 C170 340 380 250 600 250 S1030 340 1030 610 C1030 700 860 710 600 710 S170 700 170 610Z" fill="url(#crust)"/>'
        '<g stroke="#f1d9ad" stroke-width="22" stroke-linecap="round" fill="none" opacity=".8"><path d="M380 360 Q450 430 430 540"/>'
        '<path d="M560 320 Q640 410 620 560"/><path d="M750 340 Q820 430 800 550"/></g>'),
    "bed.jpg": (1200, 1500, '<rect width="1200" height="1500" fill="#8aa07a"/><path d="M0 0 H1200 V430 H0Z" fill="#a5654b"/>'
        + "".join(f'<rect x="{x - (y // 72 % 2) * 75}" y="{y}" width="142" height="64" fill="#b97a5c"/>' for y in range(0, 430, 72) for x in range(0, 1350, 150))
        + '<path d="M90 470 H1110 L1180 1440 H20Z" fill="#4f3a2b"/>'
        + "".join(f'<path d="M{120 - y // 20} {y} H{1080 + y // 20}" stroke="#6a5040" stroke-width="14"/>' for y in range(560, 1420, 110))
        + "".join(f'<path d="M{x} {y} q-14 -50 -6 -74 q16 30 6 74" fill="#b7cf7f"/>' for y in (610, 830, 1050, 1270) for x in range(200, 1080, 120))),
    "shelf.png": (1000, 1200, '<rect width="1000" height="1200" fill="#fbfaf6"/><g fill="none" stroke="#40444f" stroke-width="5">'
        '<rect x="190" y="130" width="600" height="930"/>'
        + "".join(f'<rect x="190" y="{y}" width="600" height="22" fill="#e6d3ae"/>' for y in (130, 340, 560, 790, 1038))
        + '<path d="M190 1110 H790 M190 1090 v40 M790 1090 v40 M120 130 V1060 M100 130 h40 M100 1060 h40"/></g>'
        '<g font-family="sans-serif" font-size="44" fill="#40444f"><text x="430" y="1175">843</text>'
        '<text x="0" y="0" transform="translate(100 640) rotate(-90)">1 310</text></g>'),
}  # fmt: skip


def drawing(name: str) -> str:
    """A page that contains only the picture."""
    width, height, content = PICTURES[name]
    return (
        "<!doctype html><style>body { margin: 0 } svg { display: block }</style>"
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">{content}</svg>'
    )
